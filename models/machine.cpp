#include "models/machine.h"

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
