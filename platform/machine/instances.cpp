#include "platform/machine/instances.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "platform/machine/schema.h"

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

}  // namespace attnvp::config
