#include "cli/accelergy.h"

#include <fmt/format.h>

#include "platform/config/energy.h"
#include "platform/energy/machine_model.h"

namespace attnvp::cli {

std::string ert_yaml(const MachineConfig& machine) {
  const config::EnergyTable table = energy::resolved(config::load_energy(machine.energy), machine);
  std::string out =
      fmt::format("# {}, energies {}; pJ\nERT:\n  version: 0.4\n  tables:\n", machine.name, machine.energy);
  for (const auto& [component, actions] : table.components()) {
    out += fmt::format("    - name: {}\n      actions:\n", component);
    for (const auto& [name, action] : actions) {
      out += fmt::format("        - {{name: {}, arguments: {{}}, energy: {}", name, action.pj);
      if (action.pj_per_kib > 0) out += fmt::format(", energy_per_kib: {}", action.pj_per_kib);
      if (action.low != 1 || action.high != 1) out += fmt::format(", low: {}, high: {}", action.low, action.high);
      out += "}\n";
    }
  }
  return out;
}

std::string art_yaml(const MachineConfig& machine) {
  constexpr double kUm2PerMm2 = 1e6;
  const energy::MachineModel model(machine, energy::Technology::cmos());
  std::string out = fmt::format("# {}; um^2 of one of each\nART:\n  version: 0.4\n  tables:\n", machine.name);
  for (const energy::Part& part : model.parts()) {
    out += fmt::format("    - {{name: {}, area: {}}}\n", part.module, part.area_mm2 * kUm2PerMm2);
  }
  return out;
}

}  // namespace attnvp::cli
