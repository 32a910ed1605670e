#include "platform/machine/hardware.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>
#include <stdexcept>

#include "models/keys/binding.h"
#include "models/memory/banked_dram/config.h"
#include "models/registry.h"
#include "platform/base/origin.h"
#include "platform/base/text.h"
#include "platform/machine/catalog.h"
#include "platform/machine/document.h"
#include "platform/machine/provenance.h"
#include "platform/machine/words.h"

namespace attnvp::config {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCores = "cores";
constexpr std::uint32_t kMostCores = 64;
constexpr const char* kDramPart = "dram.part";
constexpr const char* kPlugin = "plugin:";            // prefix of a library's name, as a kind
constexpr std::size_t kLongestChain = 32;             // of bases
constexpr std::uint64_t kMostL1Bytes = 256ULL << 30;  // all clusters together

std::string find_base(const Setting& setting, const std::string& folder) {
  try {
    return find_config(Folder::kHardware, setting.text, folder);
  } catch (const ConfigError& problem) {
    fail(setting.origin, fmt::format("key 'base': {}", problem.what()));
  }
}

// Reads a file after its base. `chain` holds the files read so far.
MachineConfig load_file(const std::string& path, std::vector<std::string> chain) {
  const Document document = Document::load(path);
  chain.push_back(fs::weakly_canonical(path).string());

  const std::vector<Setting> settings = machine_settings(document);
  read_provenance(document, paths_of(settings));  // throws for invalid provenance
  const std::string folder = fs::path(path).parent_path().string();

  MachineConfig machine;
  for (const Setting& setting : settings) {
    if (setting.path != "base") continue;
    const std::string base = find_base(setting, folder);
    if (std::find(chain.begin(), chain.end(), fs::weakly_canonical(base).string()) != chain.end()) {
      std::vector<std::string> shown;
      shown.reserve(chain.size() + 1);
      for (const std::string& link : chain) shown.push_back(shown_path(link));
      shown.push_back(shown_path(fs::weakly_canonical(base).string()));
      fail(setting.origin, fmt::format("key 'base': the bases form a cycle: {}", fmt::join(shown, " -> ")));
    }
    if (chain.size() >= kLongestChain) {
      fail(setting.origin,
           fmt::format("key 'base': {} files stand on one another; allowed are {}", chain.size() + 1, kLongestChain));
    }
    machine = load_file(base, chain);
  }
  machine.name = text::printable(fs::path(path).stem().string());
  for (const Setting& setting : settings) {  // the part first, as the file's keys override it in any order
    if (setting.path == kDramPart) apply_setting(machine, setting);
  }
  for (Setting setting : settings) {
    if (setting.path == "base" || setting.path == kDramPart) continue;
    if (setting.path == "energy" && is_path(setting.text)) {
      setting.text = (fs::path(folder) / setting.text).lexically_normal().string();
    }
    apply_setting(machine, setting);
  }
  return machine;
}

bool plain_in_yaml(const std::string& text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '/' || c == '-';
  };
  const bool letter_first = !text.empty() && ((text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z'));
  static const std::vector<std::string> reserved = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"};
  return letter_first && std::all_of(text.begin(), text.end(), plain) &&
         std::none_of(reserved.begin(), reserved.end(),
                      [&](const auto& word) { return edit_distance(text, word) == 0; });
}

std::string yaml_string(const std::string& text) {
  if (plain_in_yaml(text)) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace

const Schema<MachineConfig>& hardware_schema() {
  static const Schema<MachineConfig> schema([] {
    Keys<MachineConfig> keys;
    MachineConfig::describe(keys);
    std::set<std::string> paths;
    for (const auto& key : keys.all()) {
      if (!paths.insert(key.path).second) throw std::logic_error("two models declare the key '" + key.path + "'");
    }
    return keys.all();
  }());
  return schema;
}

namespace {

std::string core_path(std::uint32_t k, const std::string& path) { return fmt::format("{}.{}.{}", kCores, k, path); }

// Core of a path "cores.1.mac.rows"; none for other paths.
std::optional<std::uint32_t> core_of(const std::string& path) {
  const std::string prefix = std::string(kCores) + ".";
  if (path.rfind(prefix, 0) != 0) return {};
  std::uint32_t k = 0;
  const char* const end = path.data() + std::min(path.find('.', prefix.size()), path.size());
  const auto [stop, error] = std::from_chars(path.data() + prefix.size(), end, k);
  if (error != std::errc() || stop != end) return {};
  return k;
}

std::vector<Key<MachineConfig>> keys_of_cores() {
  std::vector<Key<MachineConfig>> all;
  for (std::uint32_t k = 0; k < kMostCores; ++k) {
    for (const Key<CoreConfig>& of_core : core_keys()) {
      Key<MachineConfig> key;
      static_cast<KeyInfo&>(key) = of_core;
      key.path = core_path(k, of_core.path);
      key.get = [k, get = of_core.get](const MachineConfig& machine) { return get(machine.core(k)); };
      key.set = [k, path = of_core.path](MachineConfig& machine, const Value& value) {
        if (machine.core_overrides.size() <= k) machine.core_overrides.resize(k + 1);
        machine.core_overrides[k].insert_or_assign(path, value);
      };
      all.push_back(std::move(key));
    }
  }
  return all;
}

// Keys of a core that differ from the machine's common values.
std::vector<const Key<CoreConfig>*> differences(const MachineConfig& machine, std::uint32_t k) {
  std::vector<const Key<CoreConfig>*> keys;
  const CoreConfig common{machine.mac, machine.vec, machine.l0}, core = machine.core(k);
  for (const Key<CoreConfig>& key : core_keys()) {
    if (key.get(core) != key.get(common)) keys.push_back(&key);
  }
  return keys;
}

bool is_list(const MachineConfig& machine) {
  for (std::uint32_t k = 0; k < machine.cores && !machine.core_overrides.empty(); ++k) {
    if (!differences(machine, k).empty()) return true;
  }
  return false;
}

void check_l0(const CoreConfig& core, const ScratchpadConfig& l1, const std::string& path, const Origin& origin) {
  if (core.l0.size_bytes < l1.size_bytes) return;
  fail(origin, fmt::format("key '{}': found '{}'; allowed is less than l1.size, {}", path,
                           format_integer(KeyUnit::kBytes, core.l0.size_bytes),
                           format_integer(KeyUnit::kBytes, l1.size_bytes)));
}

}  // namespace

const Key<MachineConfig>* find_key(const std::string& path) {
  if (!core_of(path)) return hardware_schema().find(path);
  static const std::vector<Key<MachineConfig>> all = keys_of_cores();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& key) { return key.path == path; });
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string> core_paths(std::uint32_t k) {
  std::vector<std::string> paths;
  for (const Key<CoreConfig>& key : core_keys()) paths.push_back(core_path(k, key.path));
  return paths;
}

std::vector<Setting> machine_settings(const Document& file) {
  std::vector<std::string> known = hardware_schema().paths();
  known.emplace_back("base");
  known.emplace_back(kProvenanceSection);
  std::vector<std::string> of_core;
  for (const Key<CoreConfig>& key : core_keys()) of_core.push_back(key.path);
  return file.settings(known, {{kCores, of_core}});
}

std::vector<std::string> paths_of(const std::vector<Setting>& settings) {
  std::vector<std::string> paths = hardware_schema().paths();
  std::set<std::uint32_t> cores;
  for (const Setting& setting : settings) {
    const auto core = core_of(setting.path);
    if (!core || !cores.insert(*core).second) continue;
    const std::vector<std::string> of_core = core_paths(*core);
    paths.insert(paths.end(), of_core.begin(), of_core.end());
  }
  return paths;
}

MachineConfig load_hardware(const std::string& name_or_path, const std::vector<std::string>& overrides) {
  const std::string path = find_config(Folder::kHardware, name_or_path);
  MachineConfig machine = load_file(path, {});
  for (const std::string& assignment : overrides) apply_override(machine, assignment);
  finish_machine(machine, {overrides.empty() ? shown_path(path) : shown_path(path) + " with --set"});
  return machine;
}

void apply_override(MachineConfig& machine, const std::string& assignment) {
  const Setting setting = parse_override(assignment);
  if (setting.path == "base") fail(setting.origin, "key 'base' is allowed in a file only; choose the machine by --hw");
  apply_setting(machine, setting);
}

std::string library_key(const Setting& setting) {
  if (setting.text.rfind(kPlugin, 0) != 0) return {};
  for (const Slot& place : slots()) {
    const std::string key = fmt::format("{}.library", place.name);
    if (setting.path == fmt::format("{}.{}", place.name, place.key) && find_key(key) != nullptr) return key;
  }
  return {};
}

void apply_setting(MachineConfig& machine, const Setting& setting) {
  if (const std::string key = library_key(setting); !key.empty()) {
    apply_setting(machine, {key, setting.text.substr(std::string(kPlugin).size()), setting.origin});
    apply_setting(machine, {setting.path, "plugin", setting.origin});
    return;
  }
  if (const auto k = core_of(setting.path)) {
    const Key<MachineConfig>* key = find_key(setting.path);
    if (*k >= machine.cores) {
      fail(setting.origin, fmt::format("key '{}': the machine has no core {}; allowed are cores 0 to {}", setting.path,
                                       *k, machine.cores - 1));
    }
    if (key == nullptr) refuse_unknown(setting, core_paths(*k));
    return key->set(machine, parse_setting(*key, setting));
  }
  hardware_schema().apply(machine, setting);
  if (setting.path == kCores) machine.core_overrides.clear();
  auto& dram = machine.own<BankedConfig>();
  try {
    if (setting.path == kDramPart) apply_dram_part(dram, dram.part);
    if (setting.path == "dram.mapping") dram.mapping = dram_mapping(dram.mapping);
  } catch (const ConfigError& problem) {
    fail(setting.origin, fmt::format("key '{}': {}", setting.path, problem.what()));
  }
}

void finish_machine(MachineConfig& machine, const Origin& origin) {
  hardware_schema().check(machine, origin);
  settle(machine);
  check_machine(machine, origin);
}

void check_machine(const MachineConfig& machine, const Origin& origin) {
  hardware_schema().check(machine, origin);
  const auto bytes = [](std::uint64_t value) { return format_integer(KeyUnit::kBytes, value); };
  const ScratchpadConfig& l1 = machine.l1;
  check_l0({machine.mac, machine.vec, machine.l0}, l1, "l0.size", origin);
  for (std::uint32_t k = 0; k < machine.cores && k < machine.core_overrides.size(); ++k) {
    if (machine.core_overrides[k].empty()) continue;
    for (const auto& [path, value] : machine.core_overrides[k]) {
      check_setting(*find_key(core_path(k, path)), value, origin);
    }
    check_l0(machine.core(k), l1, core_path(k, "l0.size"), origin);
    const std::string problem = kind_problem(machine.with_core(k));
    if (!problem.empty()) fail(origin, fmt::format("key '{}.{}': {}", kCores, k, problem));
  }
  if (machine.clusters * l1.size_bytes > kMostL1Bytes) {
    fail(origin, fmt::format("key 'l1.size': found '{}' in each of {} clusters, {} together; allowed is {} together",
                             bytes(l1.size_bytes), machine.clusters, bytes(machine.clusters * l1.size_bytes),
                             bytes(kMostL1Bytes)));
  }
  const std::uint64_t bank_row_bytes = std::uint64_t{l1.banks} * l1.bank_bytes_per_cycle;
  if (bank_row_bytes > l1.size_bytes) {
    fail(origin,
         fmt::format("key 'l1.banks': found {} banks of {} B/cycle, {} per cycle; allowed is at most l1.size, {}",
                     l1.banks, l1.bank_bytes_per_cycle, bytes(bank_row_bytes), bytes(l1.size_bytes)));
  }
  if (machine.dma.burst_bytes > l1.size_bytes) {
    fail(origin, fmt::format("key 'dma.burst': found '{}'; allowed is at most l1.size, {}",
                             bytes(machine.dma.burst_bytes), bytes(l1.size_bytes)));
  }
  for (std::uint32_t k = 0; k < machine.cores; ++k) {
    const MacConfig mac = machine.core(k).mac;
    const VecConfig vec = machine.core(k).vec;
    if (vec.rows > vec.lanes) {
      fail(origin, fmt::format("key 'vec.rows': found {}; allowed is at most vec.lanes, {}", vec.rows, vec.lanes));
    }
    if (mac.weight_arrays == 0 || mac.resident_tiles == 0) continue;
    fail(origin, fmt::format("key 'mac.resident_tiles': found {} tiles in arrays that hold weights; allowed is 0 with "
                             "mac.weight_arrays={}",
                             mac.resident_tiles, mac.weight_arrays));
  }
  const std::string problem = kind_problem(machine);
  if (!problem.empty()) fail(origin, problem);
}

std::string to_yaml(const MachineConfig& machine) { return to_yaml(machine, {}); }

std::string machine_hash(const MachineConfig& machine) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : to_yaml(machine)) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

void note_machine(const MachineConfig& machine, const std::vector<std::string>& overrides) {
  files::note("machine_hash", machine_hash(machine));
  files::note("overrides", overrides.empty() ? "none" : fmt::format("{}", fmt::join(overrides, " ")));
}

namespace {

std::string commented(const std::string& line, const std::string& path, const Provenances& provenance) {
  constexpr std::size_t kCommentColumn = 30;
  if (provenance.empty()) return line;
  const auto stated = provenance.find(path);
  return fmt::format("{:<{}} # {}", line, kCommentColumn,
                     stated == provenance.end() ? "default" : stated->second.text());
}

// YAML of the keys in which single cores differ.
std::string cores_yaml(const MachineConfig& machine, const Provenances& provenance) {
  std::string out = commented(fmt::format("{}:", kCores), kCores, provenance) + "\n";
  for (std::uint32_t k = 0; k < machine.cores; ++k) {
    const CoreConfig core = machine.core(k);
    const std::vector<const Key<CoreConfig>*> keys = differences(machine, k);
    if (keys.empty()) out += "  - {}\n";
    std::string section;
    for (const Key<CoreConfig>* key : keys) {
      const std::size_t dot = key->path.find('.');
      if (key->path.substr(0, dot) != section) {
        out += fmt::format("  {} {}:\n", section.empty() ? "-" : " ", key->path.substr(0, dot));
        section = key->path.substr(0, dot);
      }
      const std::string line =
          fmt::format("      {}: {}", key->path.substr(dot + 1), format_value(*key, key->get(core)));
      out += commented(line, core_path(k, key->path), provenance) + "\n";
    }
  }
  return out;
}

}  // namespace

std::string to_yaml(const MachineConfig& machine, const Provenances& provenance, bool all) {
  std::string out;
  std::vector<std::string> open;  // sections that contain the previous line
  const bool list = is_list(machine);
  for (const auto& key : hardware_schema().keys()) {
    if (!all && provenance.count(key.path) == 0 && !applies(key.path, machine)) continue;
    if (list && key.path == kCores) {
      out += cores_yaml(machine, provenance);
      open.clear();
      continue;
    }
    std::vector<std::string> parts;
    for (std::size_t start = 0, dot = 0; dot != std::string::npos; start = dot + 1) {
      dot = key.path.find('.', start);
      parts.push_back(key.path.substr(start, dot == std::string::npos ? dot : dot - start));
    }
    std::size_t common = 0;
    while (common < open.size() && common + 1 < parts.size() && open[common] == parts[common]) ++common;
    open.resize(common);
    for (; open.size() + 1 < parts.size(); open.push_back(parts[open.size()])) {
      out += std::string(2 * open.size(), ' ') + parts[open.size()] + ":\n";
    }
    const std::string value = format_value(key, key.get(machine));
    std::string line = fmt::format("{}{}: {}", std::string(2 * open.size(), ' '), parts.back(),
                                   key.type == Type::kString ? yaml_string(value) : value);
    if (key.path != "name") line = commented(line, key.path, provenance);
    out += line + "\n";
  }
  return out;
}

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
  const YamlNode found = document.root()[name_or_text];
  return found ? document.scalar(found, name_or_text) : name_or_text;
}

}  // namespace attnvp::config
