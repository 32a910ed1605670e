// Registry of the kinds of modules. A kind fills one slot of a machine (slot.h); the key of the slot names the kind. A
// kind registers itself in its own source file:
//
//   const bool kPagedRegistered = add_kind<Memory>({"dram", "paged", "has rows that are opened", {"attnvp.dram"},
//       [](const ModuleContext& at) { return std::make_unique<PagedDram>(at.name, at); }});
//
// Validation, documentation, elaboration, reports and sweeps then use the kind without further changes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/machine.h"
#include "models/sim/module.h"
#include "models/slot.h"

namespace attnvp {

// Properties of a kind, independent of its role.
struct KindInfo {
  KindInfo(std::string in_slot, std::string kind_name, std::string kind_meaning, std::vector<std::string> with_energy)
      : slot(std::move(in_slot)),
        name(std::move(kind_name)),
        meaning(std::move(kind_meaning)),
        components(std::move(with_energy)) {}
  virtual ~KindInfo() = default;

  std::string slot;                     // slot that it fills: "dram"
  std::string name;                     // value of the slot's key: "fixed"
  std::string meaning;                  // predicate that follows the name: "is peak bandwidth plus latency"
  std::vector<std::string> components;  // components of the energy table that its counters name
  // Keys of this kind alone, beyond those of the slot (with_keys).
  std::function<void(config::Keys<MachineConfig>&, const std::string& slot)> keys;
  std::string keys_of;  // another kind of the slot whose keys it shares
  // Sets values that follow from the machine's other keys.
  std::function<void(MachineConfig&)> settle;
  // Reason why a machine cannot have this kind; empty if it can.
  std::function<std::string(const MachineConfig&)> problem;
};

template <class Interface>
struct Kind : KindInfo {
  using Make = std::function<std::unique_ptr<Interface>(const ModuleContext&)>;
  Kind(std::string in_slot, std::string kind_name, std::string kind_meaning, std::vector<std::string> with_energy,
       Make factory)
      : KindInfo(std::move(in_slot), std::move(kind_name), std::move(kind_meaning), std::move(with_energy)),
        make(std::move(factory)) {}
  Kind with_problem(const std::function<std::string(const MachineConfig&)>& why) && {
    problem = why;
    return std::move(*this);
  }
  Kind with_settling(const std::function<void(MachineConfig&)>& how) && {
    settle = how;
    return std::move(*this);
  }
  // Adds the keys of `Config`, which only this kind has. machine.own<Config>() holds its values.
  template <class Config>
  Kind with_keys() && {
    keys = [](config::Keys<MachineConfig>& key, const std::string& of_place) {
      key.section<Config>(
          of_place, [](const MachineConfig& machine) -> const Config& { return machine.own<Config>(); },
          [](MachineConfig& machine) -> Config& { return machine.own<Config>(); });
    };
    return std::move(*this);
  }
  Kind with_keys_of(const std::string& other) && {
    keys_of = other;
    return std::move(*this);
  }
  Make make;
};

// Registered kinds, by slot in the order of the module tree, then by name. Throws std::logic_error for an unknown slot
// and for two kinds of one name in a slot.
std::vector<const KindInfo*> kinds();
std::vector<const KindInfo*> kinds(const std::string& slot);
std::vector<std::string> kind_names(const std::string& slot);
// Kinds that a machine uses, for all slots or one. Throws std::logic_error for an unregistered kind.
std::vector<const KindInfo*> kinds_of(const MachineConfig& machine);
const KindInfo& kind_of(const std::string& slot, const MachineConfig& machine);
// Calls KindInfo::settle of every kind of the machine.
void settle(MachineConfig& machine);
// First reason why a kind cannot fill its slot; empty if there is none.
std::string kind_problem(const MachineConfig& machine);

// True if `key` has an effect on that machine: its kind fills a slot and its component exists.
bool applies(const std::string& key, const MachineConfig& machine);

// Components of the energy table that any kind names, in the order of the module tree.
std::vector<std::string> energy_components();

bool add_kind(std::unique_ptr<KindInfo> kind);
template <class Interface>
bool add_kind(Kind<Interface> kind) {
  return add_kind(std::make_unique<Kind<Interface>>(std::move(kind)));
}

// Throws std::logic_error for errors in a model: a wrong role, or a counter with a component that the kind does not
// name.
void check_energies(const KindInfo& kind, Module& module);
[[noreturn]] void refuse_role(const KindInfo& kind);

// Builds the module of the kind that the machine names for the slot.
template <class Interface>
std::unique_ptr<Interface> make(const ModuleContext& module_context) {
  const KindInfo& found = kind_of(module_context.slot, module_context.machine);
  const auto* kind = dynamic_cast<const Kind<Interface>*>(&found);
  if (kind == nullptr) refuse_role(found);
  std::unique_ptr<Interface> module = kind->make(module_context);
  check_energies(*kind, *module);
  return module;
}

}  // namespace attnvp
