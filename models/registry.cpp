#include "models/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace attnvp {

namespace {

std::vector<std::unique_ptr<KindInfo>>& all() {
  static std::vector<std::unique_ptr<KindInfo>> kinds;  // filled before main, in any order
  return kinds;
}

std::size_t order_of(std::string_view slot) {
  const auto found = std::find_if(slots().begin(), slots().end(), [&](const Slot& p) { return slot == p.name; });
  return static_cast<std::size_t>(found - slots().begin());
}

// By slot and name.
bool comes_before(const KindInfo* a, const KindInfo* b) {
  return a->slot == b->slot ? a->name < b->name : order_of(a->slot) < order_of(b->slot);
}

}  // namespace

const std::vector<Slot>& slots() {
  using M = MachineConfig;
  using Name = const std::string&;
  static const std::vector<Slot> all = {
      {"interconnect", "kind", Role::kInterconnect, [](const M& m) -> Name { return m.interconnect.kind; }},
      {"mailbox", "kind", Role::kMailbox, [](const M& m) -> Name { return m.mailbox.kind; }},
      {"dram", "policy", Role::kMainMemory, [](const M& m) -> Name { return m.dram.policy; }},
      {"l2", "kind", Role::kMainMemory, [](const M& m) -> Name { return m.l2.kind; }},
      {"l1", "kind", Role::kOnChipMemory, [](const M& m) -> Name { return m.l1.kind; }},
      {"events", "kind", Role::kEvents, [](const M& m) -> Name { return m.events.kind; }},
      {"dma", "kind", Role::kDma, [](const M& m) -> Name { return m.dma.kind; }},
      {"control", "cpu", Role::kProcessor, [](const M& m) -> Name { return m.control.cpu; }},
      {"l0", "kind", Role::kOnChipMemory, [](const M& m) -> Name { return m.l0.kind; }},
      {"mac", "kind", Role::kEngine, [](const M& m) -> Name { return m.mac.kind; }},
      {"vec", "kind", Role::kEngine, [](const M& m) -> Name { return m.vec.kind; }}};
  return all;
}

bool add_kind(std::unique_ptr<KindInfo> kind) {
  all().push_back(std::move(kind));
  return true;
}

std::vector<const KindInfo*> kinds() {
  std::vector<const KindInfo*> sorted;
  sorted.reserve(all().size());
  for (const auto& kind : all()) sorted.push_back(kind.get());
  std::sort(sorted.begin(), sorted.end(), comes_before);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const KindInfo& kind = *sorted[i];
    if (order_of(kind.slot) == slots().size()) {
      throw std::logic_error(fmt::format("kind '{}' is registered for '{}', an unknown slot", kind.name, kind.slot));
    }
    if (i > 0 && sorted[i - 1]->slot == kind.slot && sorted[i - 1]->name == kind.name) {
      throw std::logic_error(fmt::format("kind '{}' of {} is registered twice", kind.name, kind.slot));
    }
  }
  return sorted;
}

std::vector<const KindInfo*> kinds(const std::string& slot) {
  std::vector<const KindInfo*> here;
  for (const auto& kind : all()) {
    if (kind->slot == slot) here.push_back(kind.get());
  }
  std::sort(here.begin(), here.end(), comes_before);
  return here;
}

std::vector<std::string> kind_names(const std::string& slot) {
  std::vector<std::string> names;
  for (const KindInfo* kind : kinds(slot)) names.push_back(kind->name);
  return names;
}

std::vector<const KindInfo*> kinds_of(const MachineConfig& machine) {
  std::vector<const KindInfo*> standing;
  for (const Slot& slot : slots()) standing.push_back(&kind_of(slot.name, machine));
  return standing;
}

const KindInfo& kind_of(const std::string& slot, const MachineConfig& machine) {
  const std::string& name = slots().at(order_of(slot)).kind(machine);
  for (const auto& kind : all()) {
    if (kind->slot == slot && kind->name == name) return *kind;
  }
  throw std::logic_error(
      fmt::format("no kind '{}' for {}; there are: {}", name, slot, fmt::join(kind_names(slot), ", ")));
}

void settle(MachineConfig& machine) {
  for (const KindInfo* kind : kinds_of(machine)) {
    if (kind->settle) kind->settle(machine);
  }
}

std::string kind_problem(const MachineConfig& machine) {
  for (const KindInfo* kind : kinds_of(machine)) {
    const std::string problem = kind->problem ? kind->problem(machine) : "";
    if (!problem.empty()) return problem;
  }
  return {};
}

bool applies(const std::string& key, const MachineConfig& machine) {
  for (const Slot& slot : slots()) {
    const std::string section = slot.name + std::string(".");
    if (key.compare(0, section.size(), section) != 0 || key == section + slot.key) continue;
    const KindInfo& standing = kind_of(slot.name, machine);
    if (standing.name == "none") return false;
    if (key == section + "library") return standing.name == "plugin";
    for (const KindInfo* kind : kinds(slot.name)) {
      config::Keys<MachineConfig> keys;
      if (kind->keys) kind->keys(keys, slot.name);
      const auto& own = keys.all();
      const bool is_own = std::any_of(own.begin(), own.end(), [&key](const auto& k) { return k.path == key; });
      if (is_own) return kind->name == standing.name || kind->name == standing.keys_of;
    }
  }
  return true;
}

std::vector<std::string> energy_components() {
  std::vector<std::string> components;
  for (const KindInfo* kind : kinds()) {
    for (const std::string& component : kind->components) {
      if (std::find(components.begin(), components.end(), component) == components.end()) {
        components.push_back(component);
      }
    }
  }
  // Components of every machine, which kinds need not name; the last two count cycles.
  for (const char* component : {"attnvp.network", "attnvp.events", "attnvp.dma", "attnvp.control", "attnvp.gating",
                                "attnvp.clock", "attnvp.leakage"}) {
    components.emplace_back(component);
  }
  return components;
}

void check_energies(const KindInfo& kind, Module& module) {
  std::vector<const Counter*> counters;
  for_each_module(module,
                  [&](Module& m) { counters.insert(counters.end(), m.counters().begin(), m.counters().end()); });
  for (const Counter* counter : counters) {
    const char* const component = counter->action().component;
    if (component == nullptr || counter->action().optional) continue;
    if (std::find(kind.components.begin(), kind.components.end(), component) != kind.components.end()) continue;
    throw std::logic_error(fmt::format("kind '{}' of {}: counter '{}' has energy of '{}', which its registration lacks",
                                       kind.name, kind.slot, counter->name(), component));
  }
}

void refuse_role(const KindInfo& kind) {
  throw std::logic_error(fmt::format("kind '{}' is registered for {}, but has another role", kind.name, kind.slot));
}

void add_own_keys(config::Keys<MachineConfig>& key, const std::string& slot) {
  for (const KindInfo* kind : kinds(slot)) {
    if (kind->keys) kind->keys(key, slot);
  }
}

config::KeyInfo config::kind(std::string path, const std::string& slot, std::string meaning) {
  for (const KindInfo* kind : kinds(slot)) meaning += fmt::format("; {} {}", kind->name, kind->meaning);
  return choice(std::move(path), kind_names(slot), std::move(meaning));
}

}  // namespace attnvp
