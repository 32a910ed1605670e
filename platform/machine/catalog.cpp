#include "platform/machine/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "platform/base/text.h"
#include "platform/machine/document.h"
#include "platform/machine/error.h"
#include "platform/machine/words.h"

namespace attnvp::config {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestDescription = 200;

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// Installed: bin/attnvp and share/attnvp/configs. Source tree, moved or not: build/release/cli/attnvp and configs.
// Otherwise the source tree from which the program was built.
std::string beside_program() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path installed = program.parent_path().parent_path() / "share/attnvp/configs";
  if (fs::is_directory(installed, error)) return installed.string();
  constexpr int kMostFolders = 4;
  fs::path folder = program.parent_path();
  for (int i = 0; i < kMostFolders && folder.has_relative_path(); ++i, folder = folder.parent_path()) {
    if (fs::is_directory(folder / "configs/hardware", error)) return (folder / "configs").string();
  }
  return built_from();
}

std::string first_line_description(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  if (line.empty() || line[0] != '#') return {};
  return text::printable(trimmed(std::string_view(line).substr(1)), kLongestDescription);
}

}  // namespace

std::string config_root() {
  const char* chosen = std::getenv("ATTNVP_CONFIGS");
  const bool from_environment = chosen != nullptr && *chosen != '\0';
  std::string root = from_environment ? chosen : beside_program();
  std::error_code error;
  if (!fs::is_directory(root, error)) {
    throw ConfigError(
        fmt::format("{} names {}, which is not a folder; allowed is one that holds hardware/, networks/ and energy/",
                    from_environment ? "environment variable ATTNVP_CONFIGS" : "the program's place", in_quotes(root)));
  }
  return root;
}

std::string folder_name(Folder folder) {
  switch (folder) {
    case Folder::kHardware:
      return "hardware";
    case Folder::kNetworks:
      return "networks";
    case Folder::kEnergy:
      return "energy";
    case Folder::kTilings:
      return "tilings";
    case Folder::kStreams:
      return "streams";
    case Folder::kSweeps:
      return "sweeps";
    case Folder::kDram:
      return "dram";
  }
  return {};
}

std::vector<CatalogEntry> list(Folder folder) {
  std::vector<CatalogEntry> entries;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(fs::path(config_root()) / folder_name(folder), error)) {
    if (file.path().extension() != ".yaml" || !file.is_regular_file(error)) continue;
    entries.push_back(
        {text::printable(file.path().stem().string()), first_line_description(file.path()), file.path().string()});
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return entries;
}

bool is_path(const std::string& name_or_path) {
  return name_or_path.find('/') != std::string::npos || ends_with(name_or_path, ".yaml") ||
         ends_with(name_or_path, ".yml");
}

std::string find_config(Folder folder, const std::string& name_or_path, const std::string& base_folder) {
  std::error_code error;
  if (is_path(name_or_path)) {
    std::string path = (fs::path(base_folder) / name_or_path).lexically_normal().string();
    if (!fs::exists(path, error)) throw ConfigError(fmt::format("{}: no such file", shown_path(path)));
    return path;
  }
  const fs::path named = fs::path(config_root()) / folder_name(folder) / (name_or_path + ".yaml");
  if (fs::is_regular_file(named, error)) return named.string();
  std::vector<std::string> names;
  for (const CatalogEntry& entry : list(folder)) names.push_back(entry.name);
  const std::string place = shown_path((fs::path(config_root()) / folder_name(folder)).string());
  const std::string command = fmt::format("attnvp list {}", folder_name(folder));
  const std::string near = nearest(name_or_path, names);
  throw ConfigError(fmt::format("{} is not in {}{}", in_quotes(name_or_path), place,
                                names.empty()  ? "; allowed is a path such as ./my.yaml"
                                : near.empty() ? allowed_names(name_or_path, names, command) + ", or a path"
                                               : fmt::format("; did you mean '{}' (all: {})?", near, command)));
}

}  // namespace attnvp::config
