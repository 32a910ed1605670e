#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "explore/serve/state.h"
#include "platform/machine/catalog.h"
#include "platform/machine/hardware.h"
#include "platform/machine/words.h"
#include "platform/workload/keys.h"

namespace attnvp::explore {

namespace {

namespace fs = std::filesystem;
using config::ConfigError;
using config::in_quotes;

constexpr std::size_t kLongestName = 64;
constexpr std::size_t kMostMachines = 100;
constexpr std::size_t kMostNodes = 10000;
constexpr std::string_view kPlugin = "plugin";
// Keys of files that name a configuration; allowed are names, not paths.
constexpr std::array<std::string_view, 4> kNaming = {"base", "energy", "part", "mapping"};
// Keys that load a file of another kind.
constexpr std::array<std::string_view, 4> kLoading = {"library", "firmware", "bias", "block_mask"};

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string last_of(const std::string& key) { return key.substr(key.rfind('.') + 1); }

// Whether the existing file, with symbolic links resolved, is in the working folder.
bool is_local(const std::string& path) {
  std::error_code error;
  const fs::path file = fs::canonical(path, error);
  if (error) return false;
  const fs::path folder = fs::canonical(fs::current_path(), error);
  const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return !error && end == folder.end() && fs::is_regular_file(file);
}

void check_scalar(const std::string& key, const std::string& text) {
  const std::string value(config::trimmed(text));
  if (contains(kLoading, key)) throw ConfigError(fmt::format("key '{}' loads a file, which the server refuses", key));
  if (contains(kNaming, key) && config::is_path(value)) {
    throw ConfigError(
        fmt::format("key '{}': found {}; allowed is a name of the configurations", key, in_quotes(value)));
  }
  if (value.compare(0, kPlugin.size(), kPlugin) == 0) {
    throw ConfigError(fmt::format("key '{}': found {}; the server loads no plug-ins", key, in_quotes(value)));
  }
}

// `left`: nodes that may still be visited; aliases can stand for any number of nodes.
void check_nodes(const config::YamlNode& node, const std::string& key, std::size_t& left) {
  if (left == 0) throw ConfigError(fmt::format("the file has more than {} nodes", kMostNodes));
  --left;
  if (node.is_scalar()) check_scalar(key, node.scalar());
  if (node.is_list()) {
    for (const config::YamlNode& item : node) check_nodes(item, key, left);
  }
  if (!node.is_map()) return;
  for (const auto& entry : node) {
    const std::string name = entry.first.is_scalar() ? entry.first.scalar() : std::string();
    if (name != "provenance") check_nodes(entry.second, last_of(name), left);
  }
}

// A file of the working folder that a state may name.
void check_file(const std::string& what, const std::string& path) {
  if (!is_local(path)) {
    throw ConfigError(fmt::format("{} {}: allowed are names of the configurations and files of the working folder",
                                  what, in_quotes(path)));
  }
  const config::Document document = config::Document::load(path);
  std::size_t left = kMostNodes;
  check_nodes(document.root(), "", left);
}

void check_network(const std::string& text) {
  const workload::NetworkText parts = workload::split_network(text);
  if (parts.hugging_face()) {
    throw ConfigError("network: the server reads no model files; allowed are names, shapes and operations");
  }
  for (std::size_t start = 0; start < parts.words.size();) {
    const std::size_t end = std::min(parts.words.find(',', start), parts.words.size());
    const std::string word = parts.words.substr(start, end - start);
    start = end + 1;
    const std::string key(config::trimmed(word.substr(0, word.find('='))));
    if (contains(kLoading, key)) {
      throw ConfigError(fmt::format("network: key '{}' loads a file, which the server refuses", key));
    }
  }
  if (!parts.inline_shape && config::is_path(parts.base)) check_file("network", parts.base);
}

}  // namespace

void check_setting_access(const std::string& key, const std::string& value) {
  const auto info = config::find_key(key);
  if (info == nullptr) {
    throw ConfigError(fmt::format("key {} is unknown{}", in_quotes(key),
                                  config::hint(key, config::hardware_schema().paths(), "attnvp describe keys")));
  }
  check_scalar(last_of(key), value);
  const bool is_path = config::is_path(std::string(config::trimmed(value)));
  if (info->type == config::Type::kString && is_path) {
    throw ConfigError(fmt::format("key '{}': found {}; allowed is a name", key, in_quotes(value)));
  }
}

void check_access(const ServerState& state) {
  if (config::is_path(state.hardware)) check_file("machine", state.hardware);
  check_network(state.network);
  for (const auto& [key, value] : state.settings) check_setting_access(key, value);
  if (config::is_path(state.tiling)) {
    throw ConfigError(
        fmt::format("tiling {}: allowed are names and lists such as nq=64,nkv=128", in_quotes(state.tiling)));
  }
}

std::vector<std::string> local_machines() {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::current_path(), error)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".yaml" || names.size() >= kMostMachines) continue;
    try {
      check_file("machine", name);
      config::machine_settings(config::Document::load(name));
      names.push_back(name);
    } catch (const ConfigError&) {  // another kind of file
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string output_path(const std::string& name, const std::string& ending) {
  const auto allowed = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' ||
           c == '-';
  };
  if (name.empty() || name.size() > kLongestName || name[0] == '.' || name[0] == '-' ||
      !std::all_of(name.begin(), name.end(), allowed)) {
    throw ConfigError(fmt::format("file name {}: allowed are 1 to {} letters, digits, '.', '_' and '-'",
                                  in_quotes(name), kLongestName));
  }
  std::error_code error;
  const fs::path path = fs::current_path() / (name + ending);
  if (fs::is_symlink(fs::symlink_status(path, error))) {
    throw ConfigError(
        fmt::format("file {}: is a symbolic link; allowed are files of the working folder", in_quotes(name + ending)));
  }
  return name + ending;
}

}  // namespace attnvp::explore
