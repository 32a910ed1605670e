#include "platform/machine/dram_part.h"

#include <fmt/format.h>

#include <filesystem>

#include "platform/machine/catalog.h"
#include "platform/machine/document.h"

namespace attnvp::config {

namespace {

namespace fs = std::filesystem;

constexpr int kMostBases = 8;

const Schema<BankedConfig>& part_schema() {
  static const Schema<BankedConfig> schema([] {
    Keys<BankedConfig> keys;
    BankedConfig::describe(keys);
    return keys.all();
  }());
  return schema;
}

void apply(BankedConfig& config, const std::string& name_or_path, const std::string& folder, int depth) {
  const std::string path = find_config(Folder::kDram, name_or_path, folder);
  const Document document = Document::load(path);
  std::vector<std::string> known = part_schema().paths();
  known.emplace_back("base");
  const std::vector<Setting> settings = document.settings(known);
  for (const Setting& setting : settings) {
    if (setting.path != "base") continue;
    if (depth == kMostBases)
      fail(setting.origin, fmt::format("key 'base': more than {} parts stand on one another", kMostBases));
    apply(config, setting.text, fs::path(path).parent_path().string(), depth + 1);
  }
  for (const Setting& setting : settings) {
    if (setting.path == "base") continue;
    if (setting.path == "part") fail(setting.origin, "key 'part' is the file's name; allowed is 'base'");
    part_schema().apply(config, setting);
  }
}

}  // namespace

void apply_dram_part(BankedConfig& config, const std::string& name_or_path) { apply(config, name_or_path, "", 0); }

std::string dram_mapping(const std::string& name_or_text) {
  if (name_or_text.find(' ') != std::string::npos) return name_or_text;
  const fs::path path = fs::path(config_root()) / "dram/mappings/names.yaml";
  std::error_code error;
  if (!fs::exists(path, error)) return name_or_text;
  const Document document = Document::load(path.string());
  document.require_map(document.root(), "the file");
  const YAML::Node found = document.root()[name_or_text];
  return found ? document.scalar(found, name_or_text) : name_or_text;
}

}  // namespace attnvp::config
