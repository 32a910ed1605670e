#include "platform/run/results/counters.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "models/arith/number.h"
#include "models/engine/descriptor_check.h"
#include "platform/machine/energy/machine_model.h"

namespace attnvp::job {

std::string part_of(const std::string& component) {
  static const std::string kOurs = "attnvp.";
  return component.compare(0, kOurs.size(), kOurs) == 0 ? component.substr(kOurs.size()) : component;
}

bool has_energy(const config::EnergyTable& energy, const Action& action) {
  return action.component != nullptr && !(action.optional && !energy.has(action.component, action.name));
}

PoweredCycles powered_cycles(const Module& module, const TechnologyConfig& technology, std::uint64_t cycles) {
  PoweredCycles powered{cycles, cycles};
  if (technology.gating == "none") return powered;
  for (const Counter* counter : module.counters()) {
    if (std::string_view(counter->name()) != "gated_cycles") continue;
    powered.clocked -= std::min(cycles, counter->value());
    if (technology.gating == "power") powered.leaking = powered.clocked;
  }
  return powered;
}

std::vector<Standing> standing_of(const Module& module, const config::EnergyTable& energy) {
  const std::string name = module.basename();
  const Standing all[] = {
      {energy::kLeakage, "leaking_cycles", "cycles in which it is powered", name, &PoweredCycles::leaking},
      {energy::kClock, "clocked_cycles", "cycles in which it has a clock", name, &PoweredCycles::clocked},
      {"attnvp.dram", "kept_cycles", "cycles in which its contents are kept", "background", &PoweredCycles::leaking}};
  std::vector<Standing> standing;
  for (const Standing& s : all) {
    if (s.action == "background" && name != "dram") continue;
    if (energy.has(s.component, s.action)) standing.push_back(s);
  }
  return standing;
}

config::EnergyTable for_type(const config::EnergyTable& table, hal::ElementType type) {
  constexpr const char* kMac = "attnvp.mac";
  const std::string name = hal::is_relative(type) && !hal::is_integer(type) ? "fp8" : attnvp::name_of(type);
  const std::string action = "compute_" + name;
  if (type == hal::ElementType::kFp16 || !table.has(kMac, action)) return table;
  config::EnergyTable own = table;
  own.set(kMac, "compute", table.components().find(kMac)->second.find(action)->second);
  std::vector<config::EnergyTable> cores;
  for (const config::EnergyTable& core : table.cores()) cores.push_back(for_type(core, type));
  own.set_cores(std::move(cores), table.cores_of_cluster());
  return own;
}

namespace {

// `technology` and `cycles` are set for powered modules; without them there is no energy by the cycle.
std::vector<CounterValue> read_modules(const std::vector<Module*>& modules, const config::EnergyTable& table,
                                       const TechnologyConfig* technology, std::uint64_t cycles) {
  std::vector<CounterValue> values;
  const auto add = [&](CounterValue value, const Module& module, const char* component, const std::string& action) {
    const config::EnergyTable& energy = table.of_module(module.name());
    value.component = component;
    value.action = action;
    if (value.value > 0) {  // only actions that occur need an entry
      value.energy_pj = static_cast<double>(value.value) * energy.pj(component, action, module.size_bytes());
      const config::EnergyTable::EnergyAction range = energy.range(component, action);
      value.low_pj = value.energy_pj * range.low;
      value.high_pj = value.energy_pj * range.high;
    }
    values.push_back(std::move(value));
  };
  for (const Module* each : modules) {
    const Module& module = *each;
    const config::EnergyTable& energy = table.of_module(module.name());
    for (const Counter* counter : module.counters()) {
      CounterValue value{module.name(), counter->name(), counter->unit(), counter->description(), counter->value()};
      if (has_energy(energy, counter->action())) {
        add(std::move(value), module, counter->action().component, counter->action().name);
      } else {
        values.push_back(std::move(value));
      }
    }
    if (technology == nullptr) continue;
    const PoweredCycles powered = powered_cycles(module, *technology, cycles);
    for (const Standing& s : standing_of(module, energy)) {
      add({module.name(), s.name, "cycles", s.description, powered.*s.cycles}, module, s.component, s.action);
    }
  }
  return values;
}

}  // namespace

std::vector<CounterValue> read_counters(sc_core::sc_object& root, const config::EnergyTable& energy) {
  std::vector<Module*> modules;
  for_each_module(root, [&modules](Module& module) { modules.push_back(&module); });
  return read_modules(modules, energy, nullptr, 0);
}

std::vector<CounterValue> read_counters(const std::vector<Module*>& modules, const config::EnergyTable& energy,
                                        const TechnologyConfig& technology, std::uint64_t cycles) {
  return read_modules(modules, energy, &technology, cycles);
}

}  // namespace attnvp::job
