// The kinds of modules that a machine can be built of. A kind stands in one place of the machine (place.h); the key of
// that place says which kind it is. A kind registers itself in its own source file:
//
//   const bool kRegistered = add_kind<Memory>({"dram", "paged", "has rows that are opened", {"attnvp.dram"},
//       [](const Site& site) { return std::make_unique<PagedDram>(site.name, site); }});
//
// and is then known to validation, documentation, elaboration, reports and sweeps.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/machine.h"
#include "models/module.h"
#include "models/place.h"

namespace attnvp {

// What all kinds have in common, whatever their role.
struct KindInfo {
  KindInfo(std::string in_place, std::string kind_name, std::string kind_meaning, std::vector<std::string> with_energy)
      : place(std::move(in_place)),
        name(std::move(kind_name)),
        meaning(std::move(kind_meaning)),
        components(std::move(with_energy)) {}
  virtual ~KindInfo() = default;

  std::string place;                    // where it may stand: "dram"
  std::string name;                     // as its place's key has it: "fixed"
  std::string meaning;                  // goes on from the name: "is peak bandwidth plus latency"
  std::vector<std::string> components;  // of the energy table, that its counters name
  // Keys of its own, beyond those of the place (with_keys).
  std::function<void(config::Keys<MachineConfig>&, const std::string& place)> keys;
  std::string keys_of;  // a kind of that place, whose keys it has as well
  // Sets what follows from the machine's other keys.
  std::function<void(MachineConfig&)> settle;
  // Why the machine cannot have it; empty if it can.
  std::function<std::string(const MachineConfig&)> problem;
};

template <class Interface>
struct Kind : KindInfo {
  using Make = std::function<std::unique_ptr<Interface>(const Site&)>;
  Kind(std::string in_place, std::string kind_name, std::string kind_meaning, std::vector<std::string> with_energy,
       Make factory)
      : KindInfo(std::move(in_place), std::move(kind_name), std::move(kind_meaning), std::move(with_energy)),
        make(std::move(factory)) {}
  Kind with_problem(std::function<std::string(const MachineConfig&)> why) && {
    problem = std::move(why);
    return std::move(*this);
  }
  Kind with_settling(std::function<void(MachineConfig&)> how) && {
    settle = std::move(how);
    return std::move(*this);
  }
  // A struct with describe() that only this kind has: machine.own<Config>() is the machine's.
  template <class Config>
  Kind with_keys() && {
    keys = [](config::Keys<MachineConfig>& key, const std::string& of_place) {
      key.section<Config>(
          of_place, [](const MachineConfig& machine) -> const Config& { return machine.own<Config>(); },
          [](MachineConfig& machine) -> Config& { return machine.own<Config>(); });
    };
    return std::move(*this);
  }
  Kind with_keys_of(std::string other) && {
    keys_of = std::move(other);
    return std::move(*this);
  }
  Make make;
};

// All that are registered: by place, in the order of the module tree; in a place by name. Throws std::logic_error for
// mistakes: a place that is none, two kinds of one name in a place.
std::vector<const KindInfo*> kinds();
std::vector<const KindInfo*> kinds(const std::string& place);
std::vector<std::string> kind_names(const std::string& place);
// What stands in a machine, or in one place of it. Throws std::logic_error for a kind that nobody registered.
std::vector<const KindInfo*> kinds_of(const MachineConfig& machine);
const KindInfo& kind_of(const std::string& place, const MachineConfig& machine);
// Lets every kind set what follows from the machine's other keys.
void settle(MachineConfig& machine);
// Why one of them cannot stand there; empty if all can.
std::string kind_problem(const MachineConfig& machine);

// Whether a key means anything on that machine: those of kinds that do not stand in it, and of what it has not, do not.
bool applies(const std::string& key, const MachineConfig& machine);

// Components of the energy table that any kind names, in the order of the module tree.
std::vector<std::string> energy_components();

bool add_kind(std::unique_ptr<KindInfo> kind);
template <class Interface>
bool add_kind(Kind<Interface> kind) {
  return add_kind(std::make_unique<Kind<Interface>>(std::move(kind)));
}

// Throws std::logic_error for mistakes in a model: a kind of another role, a counter with an energy that the kind does
// not name.
void check_energies(const KindInfo& kind, Module& module);
[[noreturn]] void refuse_role(const KindInfo& kind);

// The module that the machine wants to stand there.
template <class Interface>
std::unique_ptr<Interface> make(const Site& site) {
  const KindInfo& found = kind_of(site.place, site.machine);
  const auto* kind = dynamic_cast<const Kind<Interface>*>(&found);
  if (kind == nullptr) refuse_role(found);
  std::unique_ptr<Interface> module = kind->make(site);
  check_energies(*kind, *module);
  return module;
}

}  // namespace attnvp
