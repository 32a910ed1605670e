#include "models/machine.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "models/keys/binding.h"

namespace attnvp {

const std::vector<config::Key<CoreConfig>>& core_keys() {
  static const std::vector<config::Key<CoreConfig>> all = [] {
    config::Keys<CoreConfig> keys;
    CoreConfig::describe(keys);
    return keys.all();
  }();
  return all;
}

const std::vector<config::Key<MachineConfig>>& cluster_keys() {
  static const std::vector<config::Key<MachineConfig>> all = [] {
    constexpr std::array<const char*, 5> kSections = {"mac.", "vec.", "l0.", "l1.", "dma."};
    config::Keys<MachineConfig> keys;
    MachineConfig::describe(keys);
    std::vector<config::Key<MachineConfig>> of_cluster;
    std::copy_if(keys.all().begin(), keys.all().end(), std::back_inserter(of_cluster), [&](const auto& key) {
      return std::any_of(kSections.begin(), kSections.end(),
                         [&](const char* section) { return key.path.rfind(section, 0) == 0; });
    });
    return of_cluster;
  }();
  return all;
}

namespace {

// Sets a value of cluster_overrides. "cores.1.mac.rows" becomes an override of that core.
void set_in_cluster(MachineConfig& machine, const std::string& path, const config::Value& value) {
  constexpr std::string_view kCores = "cores.";
  if (path.rfind(kCores, 0) == 0) {
    std::uint32_t k = 0;
    const char* const end = path.data() + path.size();
    const char* const dot = std::from_chars(path.data() + kCores.size(), end, k).ptr;
    if (machine.core_overrides.size() <= k) machine.core_overrides.resize(k + 1);
    machine.core_overrides[k].insert_or_assign(std::string(dot + 1, end), value);
    return;
  }
  const auto key =
      std::find_if(cluster_keys().begin(), cluster_keys().end(), [&](const auto& k) { return k.path == path; });
  if (key != cluster_keys().end()) key->set(machine, value);
}

}  // namespace

MachineConfig MachineConfig::with_cluster(std::uint32_t c) const {
  MachineConfig machine = *this;
  machine.cluster_overrides.clear();
  if (c >= cluster_overrides.size()) return machine;
  for (const auto& [path, value] : cluster_overrides[c]) set_in_cluster(machine, path, value);
  return machine;
}

bool MachineConfig::has_equal_clusters() const {
  if (cluster_overrides.empty()) return true;
  const MachineConfig first = with_cluster(0);
  for (std::uint32_t c = 1; c < clusters; ++c) {
    const MachineConfig other = with_cluster(c);
    for (const auto& key : cluster_keys()) {
      if (key.get(other) != key.get(first)) return false;
    }
    for (std::uint32_t k = 0; k < cores; ++k) {
      const CoreConfig core = other.core(k), first_core = first.core(k);
      for (const auto& key : core_keys()) {
        if (key.get(core) != key.get(first_core)) return false;
      }
    }
  }
  return true;
}

CoreConfig MachineConfig::core(std::uint32_t k) const {
  CoreConfig core{mac, vec, l0};
  if (k >= core_overrides.size() || core_overrides[k].empty()) return core;
  for (const auto& key : core_keys()) {
    const auto value = core_overrides[k].find(key.path);
    if (value != core_overrides[k].end()) key.set(core, value->second);
  }
  return core;
}

MachineConfig MachineConfig::with_core(std::uint32_t k) const {
  MachineConfig machine = *this;
  const CoreConfig core = this->core(k);
  machine.mac = core.mac;
  machine.vec = core.vec;
  machine.l0 = core.l0;
  machine.core_overrides.clear();
  machine.cluster_overrides.clear();
  return machine;
}

bool MachineConfig::has_equal_cores() const {
  if (core_overrides.empty()) return true;
  const CoreConfig first = core(0);
  for (std::uint32_t k = 1; k < cores; ++k) {
    const CoreConfig other = core(k);
    for (const auto& key : core_keys()) {
      if (key.get(other) != key.get(first)) return false;
    }
  }
  return true;
}

}  // namespace attnvp
