// A machine as YAML, and its hash.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>

#include "models/registry.h"
#include "platform/base/origin.h"
#include "platform/machine/hardware.h"
#include "platform/machine/provenance.h"
#include "platform/machine/schema.h"
#include "platform/machine/words.h"

namespace attnvp::config {
namespace {

constexpr std::string_view kCores = "cores", kClusters = "clusters";

// Takes "cores.1." off the front of a path.
std::optional<std::uint32_t> take_number(std::string_view name, std::string& path) {
  if (path.size() <= name.size() || path.rfind(name, 0) != 0 || path[name.size()] != '.') return {};
  const std::size_t first = name.size() + 1, dot = std::min(path.find('.', first), path.size());
  std::uint32_t number = 0;
  const char* const end = path.data() + dot;
  const auto [stop, error] = std::from_chars(path.data() + first, end, number);
  if (error != std::errc() || stop != end) return {};
  path.erase(0, std::min(dot + 1, path.size()));
  return number;
}

template <class Target>
const Key<Target>* key_at(const std::vector<Key<Target>>& keys, const std::string& path) {
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const auto& key) { return key.path == path; });
  return found == keys.end() ? nullptr : &*found;
}

void require_number(const Setting& setting, std::uint32_t number, std::uint32_t count, const char* what) {
  if (number < count) return;
  fail(setting.origin, fmt::format("key '{}': the machine has no {} {}; allowed are {}s 0 to {}", setting.path, what,
                                   number, what, count - 1));
}

}  // namespace

std::string InstancePath::text() const {
  return fmt::format("{}{}{}", cluster ? fmt::format("{}.{}.", kClusters, *cluster) : "",
                     core ? fmt::format("{}.{}.", kCores, *core) : "", key);
}

InstancePath parse_instance(const std::string& path) {
  InstancePath parsed;
  parsed.key = path;
  parsed.cluster = take_number(kClusters, parsed.key);
  parsed.core = take_number(kCores, parsed.key);
  return parsed;
}

std::shared_ptr<const Key<MachineConfig>> instance_key(const InstancePath& path) {
  auto key = std::make_shared<Key<MachineConfig>>();
  const auto in_cluster = [cluster = path.cluster](const MachineConfig& machine) {
    return cluster ? machine.with_cluster(*cluster) : machine;
  };
  if (path.core) {
    const Key<CoreConfig>* const of_core = key_at(core_keys(), path.key);
    if (of_core == nullptr) return nullptr;
    static_cast<KeyInfo&>(*key) = *of_core;
    key->get = [in_cluster, k = *path.core, get = of_core->get](const MachineConfig& machine) {
      return get(in_cluster(machine).core(k));
    };
  } else {
    const Key<MachineConfig>* const of_cluster = key_at(cluster_keys(), path.key);
    if (of_cluster == nullptr) return nullptr;
    *key = *of_cluster;
    key->get = [in_cluster, get = of_cluster->get](const MachineConfig& machine) { return get(in_cluster(machine)); };
  }
  key->path = path.text();
  key->set = [path](MachineConfig& machine, const Value& value) {
    auto& of_all = path.cluster ? machine.cluster_overrides : machine.core_overrides;
    const std::uint32_t number = path.cluster ? *path.cluster : *path.core;
    if (of_all.size() <= number) of_all.resize(number + 1);
    InstancePath own = path;
    (path.cluster ? own.cluster : own.core).reset();
    of_all[number].insert_or_assign(own.text(), value);
  };
  return key;
}

std::vector<std::string> instance_paths(const InstancePath& instance) {
  std::vector<std::string> paths;
  InstancePath path = instance;
  const auto add = [&](const auto& keys) {
    for (const auto& key : keys) {
      path.key = key.path;
      paths.push_back(path.text());
    }
  };
  path.core ? add(core_keys()) : add(cluster_keys());
  return paths;
}

ListKeys instance_lists() {
  std::vector<std::string> of_core, of_cluster;
  for (const Key<CoreConfig>& key : core_keys()) of_core.push_back(key.path);
  for (const Key<MachineConfig>& key : cluster_keys()) of_cluster.push_back(key.path);
  of_cluster.emplace_back(kCores);
  return {{"cores", of_core}, {"clusters", of_cluster}, {"clusters.*.cores", of_core}};
}

void apply_instance(MachineConfig& machine, const Setting& setting) {
  const InstancePath path = parse_instance(setting.path);
  if (path.cluster) require_number(setting, *path.cluster, machine.clusters, "cluster");
  if (path.core) require_number(setting, *path.core, machine.cores, "core");
  if (path.cluster && !path.core && path.key == kCores) {
    if (setting.text == std::to_string(machine.cores)) return;
    fail(setting.origin, fmt::format("key '{}': found {} cores; allowed are as many as in every cluster, {}",
                                     setting.path, setting.text, machine.cores));
  }
  const auto key = instance_key(path);
  if (key == nullptr) refuse_unknown(setting, instance_paths(path));
  key->set(machine, parse_setting(*key, setting));
}

void drop_instances(MachineConfig& machine, const std::string& path) {
  if (path == kClusters) machine.cluster_overrides.clear();
  if (path != kCores) return;
  machine.core_overrides.clear();
  for (auto& overrides : machine.cluster_overrides) {
    for (auto entry = overrides.begin(); entry != overrides.end();) {
      entry = parse_instance(entry->first).core ? overrides.erase(entry) : std::next(entry);
    }
  }
}

std::vector<InstancePath> core_differences(const MachineConfig& machine, std::uint32_t k) {
  std::vector<InstancePath> differences;
  const CoreConfig common{machine.mac, machine.vec, machine.l0}, core = machine.core(k);
  for (const Key<CoreConfig>& key : core_keys()) {
    if (key.get(core) != key.get(common)) differences.push_back({{}, k, key.path});
  }
  return differences;
}

std::vector<InstancePath> cluster_differences(const MachineConfig& machine, std::uint32_t c) {
  std::vector<InstancePath> differences;
  const MachineConfig own = machine.with_cluster(c);
  MachineConfig common = own;  // but for single cores
  common.core_overrides = machine.core_overrides;
  for (const Key<MachineConfig>& key : cluster_keys()) {
    if (key.get(own) != key.get(machine)) differences.push_back({c, {}, key.path});
  }
  for (std::uint32_t k = 0; k < machine.cores; ++k) {
    const CoreConfig core = own.core(k), other = common.core(k);
    for (const Key<CoreConfig>& key : core_keys()) {
      if (key.get(core) != key.get(other)) differences.push_back({c, k, key.path});
    }
  }
  return differences;
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

std::string commented(const std::string& line, const std::string& path, const Provenances& provenance) {
  constexpr std::size_t kCommentColumn = 30;
  if (provenance.empty()) return line;
  const auto stated = provenance.find(path);
  return fmt::format("{:<{}} # {}", line, kCommentColumn,
                     stated == provenance.end() ? "default" : stated->second.text());
}

// YAML of the items of a list whose keys start at column `indent`.
class ItemsYaml {
 public:
  ItemsYaml(const MachineConfig& machine, const Provenances& provenance) : machine_(machine), provenance_(provenance) {}

  void cores(const char* indent, std::uint32_t count, const std::vector<InstancePath>& differences) {
    for (std::uint32_t k = 0; k < count; ++k) {
      std::vector<InstancePath> own;
      std::copy_if(differences.begin(), differences.end(), std::back_inserter(own),
                   [&](const InstancePath& path) { return path.core == k; });
      item(indent, own);
      if (own.empty()) text_ += fmt::format("{}- {{}}\n", indent);
    }
  }
  void clusters() {
    for (std::uint32_t c = 0; c < machine_.clusters; ++c) {
      std::vector<InstancePath> own, of_cores;
      for (const InstancePath& path : cluster_differences(machine_, c)) (path.core ? of_cores : own).push_back(path);
      item("  ", own);
      if (own.empty() && of_cores.empty()) text_ += "  - {}\n";
      if (of_cores.empty()) continue;
      text_ += fmt::format("  {} cores:\n", own.empty() ? "-" : " ");
      cores("      ", machine_.cores, of_cores);
    }
  }
  const std::string& text() const { return text_; }

 private:
  void item(const std::string& indent, const std::vector<InstancePath>& paths) {
    std::string section;
    for (const InstancePath& path : paths) {
      const std::size_t dot = path.key.find('.');
      if (path.key.substr(0, dot) != section) {
        text_ += fmt::format("{}{} {}:\n", indent, section.empty() ? "-" : " ", path.key.substr(0, dot));
        section = path.key.substr(0, dot);
      }
      const auto key = instance_key(path);
      const std::string value = format_value(*key, key->get(machine_));
      const std::string line = fmt::format("{}    {}: {}", indent, path.key.substr(dot + 1),
                                           key->type == Type::kString ? yaml_string(value) : value);
      text_ += commented(line, path.text(), provenance_) + "\n";
    }
  }

  const MachineConfig& machine_;
  const Provenances& provenance_;
  std::string text_;
};

// YAML of the keys in which single cores or clusters differ; empty if none does.
std::string items_yaml(const std::string& list, const MachineConfig& machine, const Provenances& provenance) {
  ItemsYaml items(machine, provenance);
  if (list == "clusters") {
    if (machine.has_equal_clusters()) return {};
    items.clusters();
  } else {
    std::vector<InstancePath> differences;
    for (std::uint32_t k = 0; k < machine.cores && !machine.core_overrides.empty(); ++k) {
      const std::vector<InstancePath> own = core_differences(machine, k);
      differences.insert(differences.end(), own.begin(), own.end());
    }
    if (differences.empty()) return {};
    items.cores("  ", machine.cores, differences);
  }
  return commented(fmt::format("{}:", list), list, provenance) + "\n" + items.text();
}

}  // namespace

std::string to_yaml(const MachineConfig& machine, const Provenances& provenance, bool all) {
  std::string out;
  std::vector<std::string> open;  // sections that contain the previous line
  for (const auto& key : hardware_schema().keys()) {
    if (!all && provenance.count(key.path) == 0 && !applies(key.path, machine)) continue;
    if (key.path == "clusters" || key.path == "cores") {
      const std::string list = items_yaml(key.path, machine, provenance);
      out += list;
      if (!list.empty()) open.clear();
      if (!list.empty()) continue;
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

}  // namespace attnvp::config
