#include "platform/machine/hardware.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
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

std::shared_ptr<const Key<MachineConfig>> find_key(const std::string& path) {
  const InstancePath instance = parse_instance(path);
  if (!instance.is_machine()) return instance_key(instance);
  return {std::shared_ptr<void>(), hardware_schema().find(path)};  // the schema owns it
}

std::vector<Setting> machine_settings(const Document& file) {
  std::vector<std::string> known = hardware_schema().paths();
  known.emplace_back("base");
  known.emplace_back(kProvenanceSection);
  std::vector<Setting> settings = file.settings(known, instance_lists());
  // Keys of single instances after the numbers of cores and clusters, which may follow in the file.
  std::stable_partition(settings.begin(), settings.end(),
                        [](const Setting& setting) { return parse_instance(setting.path).is_machine(); });
  return settings;
}

std::vector<std::string> paths_of(const std::vector<Setting>& settings) {
  std::vector<std::string> paths = hardware_schema().paths();
  std::set<std::string> instances;
  for (const Setting& setting : settings) {
    InstancePath instance = parse_instance(setting.path);
    instance.key.clear();
    if (instance.is_machine() || !instances.insert(instance.text()).second) continue;
    const std::vector<std::string> own = instance_paths(instance);
    paths.insert(paths.end(), own.begin(), own.end());
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
  InstancePath path = parse_instance(setting.path);
  for (const Slot& place : slots()) {
    if (path.key != fmt::format("{}.{}", place.name, place.key)) continue;
    path.key = fmt::format("{}.library", place.name);
    return find_key(path.text()) != nullptr ? path.text() : "";
  }
  return {};
}

void apply_setting(MachineConfig& machine, const Setting& setting) {
  if (const std::string key = library_key(setting); !key.empty()) {
    apply_setting(machine, {key, setting.text.substr(std::string(kPlugin).size()), setting.origin});
    apply_setting(machine, {setting.path, "plugin", setting.origin});
    return;
  }
  if (!parse_instance(setting.path).is_machine()) return apply_instance(machine, setting);
  hardware_schema().apply(machine, setting);
  drop_instances(machine, setting.path);
  auto& dram = machine.own<BankedConfig>();
  try {
    if (setting.path == kDramPart) apply_dram_part(dram, dram.part);
    if (setting.path == "dram.mapping") dram.mapping = dram_mapping(dram.mapping);
  } catch (const ConfigError& problem) {
    fail(setting.origin, fmt::format("key '{}': {}", setting.path, problem.what()));
  }
}

namespace {

// Values of overrides, which code may have set.
void check_overrides(const MachineConfig& machine, const Origin& origin) {
  const auto check = [&](const InstancePath& path, const Value& value) {
    check_setting(*instance_key(path), value, origin);
  };
  for (std::uint32_t k = 0; k < machine.cores && k < machine.core_overrides.size(); ++k) {
    for (const auto& [path, value] : machine.core_overrides[k]) check({{}, k, path}, value);
  }
  for (std::uint32_t c = 0; c < machine.clusters && c < machine.cluster_overrides.size(); ++c) {
    for (const auto& [path, value] : machine.cluster_overrides[c]) {
      InstancePath own = parse_instance(path);
      own.cluster = c;
      check(own, value);
    }
  }
}

void check_l0(const CoreConfig& core, const ScratchpadConfig& l1, const std::string& path, const Origin& origin) {
  if (core.l0.size_bytes < l1.size_bytes) return;
  fail(origin, fmt::format("key '{}': found '{}'; allowed is less than l1.size, {}", path,
                           format_integer(KeyUnit::kBytes, core.l0.size_bytes),
                           format_integer(KeyUnit::kBytes, l1.size_bytes)));
}

// Consistency of a cluster's values; `instance` names it in messages.
void check_cluster(const MachineConfig& m, const InstancePath& instance, const Origin& origin) {
  const auto named = [&](const char* key) { return InstancePath{instance.cluster, {}, key}.text(); };
  const auto bytes = [](std::uint64_t value) { return format_integer(KeyUnit::kBytes, value); };
  const ScratchpadConfig& l1 = m.l1;
  check_l0({m.mac, m.vec, m.l0}, l1, named("l0.size"), origin);
  for (std::uint32_t k = 0; k < m.cores && k < m.core_overrides.size(); ++k) {
    if (m.core_overrides[k].empty()) continue;
    InstancePath path{instance.cluster, k, "l0.size"};
    check_l0(m.core(k), l1, path.text(), origin);
    const std::string problem = kind_problem(m.with_core(k));
    path.key.clear();
    const std::string core = path.text();
    if (!problem.empty()) fail(origin, fmt::format("key '{}': {}", core.substr(0, core.size() - 1), problem));
  }
  const std::uint64_t bank_row_bytes = std::uint64_t{l1.banks} * l1.bank_bytes_per_cycle;
  if (bank_row_bytes > l1.size_bytes) {
    fail(origin, fmt::format("key '{}': found {} banks of {} B/cycle, {} per cycle; allowed is at most l1.size, {}",
                             named("l1.banks"), l1.banks, l1.bank_bytes_per_cycle, bytes(bank_row_bytes),
                             bytes(l1.size_bytes)));
  }
  if (m.dma.burst_bytes > l1.size_bytes) {
    fail(origin, fmt::format("key '{}': found '{}'; allowed is at most l1.size, {}", named("dma.burst"),
                             bytes(m.dma.burst_bytes), bytes(l1.size_bytes)));
  }
  for (std::uint32_t k = 0; k < m.cores; ++k) {
    const MacConfig mac = m.core(k).mac;
    const VecConfig vec = m.core(k).vec;
    if (vec.rows > vec.lanes) {
      fail(origin,
           fmt::format("key '{}': found {}; allowed is at most vec.lanes, {}", named("vec.rows"), vec.rows, vec.lanes));
    }
    if (mac.weight_arrays == 0 || mac.resident_tiles == 0) continue;
    fail(origin, fmt::format("key '{}': found {} tiles in arrays that hold weights; allowed is 0 with "
                             "mac.weight_arrays={}",
                             named("mac.resident_tiles"), mac.resident_tiles, mac.weight_arrays));
  }
}

}  // namespace

void finish_machine(MachineConfig& machine, const Origin& origin) {
  hardware_schema().check(machine, origin);
  check_overrides(machine, origin);
  if (!machine.cluster_overrides.empty() && machine.has_equal_clusters()) machine = machine.with_cluster(0);
  settle(machine);
  check_machine(machine, origin);
}

void check_machine(const MachineConfig& machine, const Origin& origin) {
  hardware_schema().check(machine, origin);
  check_overrides(machine, origin);
  if (machine.cluster_overrides.empty()) check_cluster(machine, {}, origin);
  for (std::uint32_t c = 0; c < machine.clusters && !machine.cluster_overrides.empty(); ++c) {
    InstancePath cluster;
    if (c < machine.cluster_overrides.size() && !machine.cluster_overrides[c].empty()) cluster.cluster = c;
    check_cluster(machine.with_cluster(c), cluster, origin);
    const std::string problem = kind_problem(machine.with_cluster(c));
    if (!problem.empty()) fail(origin, fmt::format("key 'clusters.{}': {}", c, problem));
  }
  const auto bytes = [](std::uint64_t value) { return format_integer(KeyUnit::kBytes, value); };
  const auto l1_bytes =
      static_cast<std::uint64_t>(machine.sum_of_clusters([](const MachineConfig& m) { return m.l1.size_bytes; }));
  if (l1_bytes > kMostL1Bytes && machine.cluster_overrides.empty()) {
    fail(origin, fmt::format("key 'l1.size': found '{}' in each of {} clusters, {} together; allowed is {} together",
                             bytes(machine.l1.size_bytes), machine.clusters, bytes(l1_bytes), bytes(kMostL1Bytes)));
  }
  if (l1_bytes > kMostL1Bytes) {
    fail(origin, fmt::format("key 'l1.size': found '{}' in {} clusters together; allowed is {} together",
                             bytes(l1_bytes), machine.clusters, bytes(kMostL1Bytes)));
  }
  const std::string problem = kind_problem(machine);
  if (!problem.empty()) fail(origin, problem);
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
