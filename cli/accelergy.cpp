#include "cli/accelergy.h"

#include <fmt/format.h>

#include <map>

#include "platform/config/energy.h"
#include "platform/energy/machine_model.h"

namespace attnvp::cli {

// With the part that depends on an instance's size in it: other programs know of no such part.
std::string ert_yaml(const MachineConfig& machine) {
  const config::EnergyTable table = energy::resolved(config::load_energy(machine.energy), machine);
  const std::map<std::string, std::uint64_t> sizes = {{"attnvp.dram", machine.dram.size_bytes},
                                                      {"attnvp.l1", machine.l1.size_bytes},
                                                      {"attnvp.l0", machine.l0.size_bytes}};
  std::string out =
      fmt::format("# {}, energies {}; pJ\nERT:\n  version: 0.4\n  tables:\n", machine.name, machine.energy);
  for (const auto& [component, actions] : table.components()) {
    out += fmt::format("    - name: {}\n      actions:\n", component);
    const auto size = sizes.find(component);
    for (const auto& [name, action] : actions) {
      const double pj = size == sizes.end() ? action.pj : table.pj(component, name, size->second);
      out += fmt::format("        - {{name: {}, arguments: {{}}, energy: {}", name, pj);
      if (action.pj_per_kib > 0 && size == sizes.end()) out += fmt::format(", energy_per_kib: {}", action.pj_per_kib);
      if (energy::stands_for_time(component, name)) out += fmt::format(", cycle_seconds: {}", 1 / machine.clock_hz);
      if (action.low != 1 || action.high != 1) out += fmt::format(", low: {}, high: {}", action.low, action.high);
      out += "}\n";
    }
  }
  return out;
}

std::string art_yaml(const MachineConfig& machine) {
  constexpr double kUm2PerMm2 = 1e6;
  const energy::MachineModel model(machine, energy::technology_of(config::load_energy(machine.energy)));
  std::string out = fmt::format("# {}; um^2 of one of each\nART:\n  version: 0.4\n  tables:\n", machine.name);
  for (const energy::Part& part : model.parts()) {
    out += fmt::format("    - {{name: 'attnvp.{}[1..{}]', area: {}}}\n", part.title(), part.count,
                       part.area_mm2 * kUm2PerMm2);
  }
  return out;
}

}  // namespace attnvp::cli
