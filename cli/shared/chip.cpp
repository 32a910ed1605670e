#include "cli/shared/chip.h"

#include <fmt/format.h>

#include <map>

#include "explore/plot/svg.h"
#include "platform/machine/energy.h"
#include "platform/machine/energy/machine_model.h"
#include "platform/report/json.h"
#include "platform/report/table.h"

namespace attnvp::cli {

namespace {

energy::MachineModel model_of(const MachineConfig& machine) {
  return {machine, energy::technology_of(config::load_energy(machine.energy))};
}

double macs_per_second(const MachineConfig& m) { return m.clock_hz * m.macs_per_cycle(); }

}  // namespace

std::string area_text(const MachineConfig& machine) {
  const energy::MachineModel model = model_of(machine);
  report::Table table;
  table.column("module", report::Table::Align::kLeft);
  for (const char* title : {"number", "each", "together", "share", "leakage"}) table.column(title);
  const auto row = [&](const std::string& name, std::uint64_t count, double each, double leakage_mw) {
    const double all = each * static_cast<double>(count);
    table.row({name, fmt::format("{}", count), fmt::format("{:.4f} mm2", each), fmt::format("{:.4f} mm2", all),
               report::percent(all / model.area_mm2()),
               report::with_prefix(leakage_mw * 1e-3 * static_cast<double>(count), "W")});
  };
  double leakage_mw = 0;
  for (const energy::ModelPart& part : model.parts()) {
    row(part.title(), part.count, part.area_mm2, part.leakage_mw.value);
    leakage_mw += part.leakage_mw.value * static_cast<double>(part.count);
  }
  row("between them", 1, model.spare_mm2(), 0);
  row("floorplan", 1, model.area_mm2(), leakage_mw);
  return fmt::format("# area of {} at {}, without DRAM\n{}{:<13}{} per mm2\n", machine.name, machine.technology.tech,
                     table.text(text::line_width()), "performance",
                     report::with_prefix(macs_per_second(machine) / model.area_mm2(), "MAC/s"));
}

std::string area_json(const MachineConfig& machine) {
  const energy::MachineModel model = model_of(machine);
  nlohmann::ordered_json document = report::json_document();
  document["hardware"] = machine.name;
  document["tech"] = machine.technology.tech;
  document["area_mm2"]["total"] = model.area_mm2();
  const auto add = [](nlohmann::ordered_json& to, double value) {  // includes modules of other cores
    to = to.is_null() ? value : to.get<double>() + value;
  };
  double leakage = 0;
  for (const energy::ModelPart& part : model.parts()) {
    const auto count = static_cast<double>(part.count);
    add(document["area_mm2"][part.module], part.area_mm2 * count);
    leakage += part.leakage_mw.value * count * 1e-3;
  }
  document["area_mm2"]["spare"] = model.spare_mm2();
  document["leakage_w"]["total"] = leakage;
  for (const energy::ModelPart& part : model.parts()) {
    add(document["leakage_w"][part.module], part.leakage_mw.value * static_cast<double>(part.count) * 1e-3);
  }
  document["macs_per_second_mm2"] = macs_per_second(machine) / model.area_mm2();
  return report::json_text(document);
}

std::string area_svg(const MachineConfig& machine) {
  constexpr double kWidth = 900, kHeight = 600;
  const energy::MachineModel model = model_of(machine);
  plot::TreeNode whole{machine.name, 0, 0, {}};
  std::size_t colors = 0;
  std::map<std::string, std::size_t> color_of;
  const auto node = [&](const energy::ModelPart& part) {
    const auto color = color_of.emplace(part.module, colors);
    if (color.second) ++colors;
    return plot::TreeNode{part.module, part.area_mm2, color.first->second, {}};
  };
  for (const energy::ModelPart& part : model.parts()) {
    if (!part.in_cluster) whole.parts.push_back(node(part));
  }
  for (std::uint32_t c = 0; c < machine.clusters; ++c) {
    plot::TreeNode cluster{fmt::format("cluster{}", c), 0, 0, {}};
    std::vector<plot::TreeNode> cores(machine.cores, {"core", 0, 0, {}});
    for (const energy::ModelPart& part : model.parts()) {
      if (!part.in_cluster || (part.cluster && *part.cluster != c)) continue;
      const plot::TreeNode own = node(part);
      if (!part.in_core) cluster.parts.push_back(own);
      for (std::uint32_t k = 0; part.in_core && k < machine.cores; ++k) {
        if (!part.core || *part.core == k) cores[k].parts.push_back(own);
      }
    }
    for (std::uint32_t k = 0; k < machine.cores; ++k) {
      cores[k].name = fmt::format("core{}", k);
      cluster.parts.push_back(std::move(cores[k]));
    }
    whole.parts.push_back(std::move(cluster));
  }
  whole.parts.push_back({"between them", model.spare_mm2(), colors, {}});
  return plot::open_svg(kWidth, kHeight) + plot::treemap(whole, kWidth, kHeight, "mm2") + "</svg>\n";
}

// Includes the part that depends on the instance's size, as other programs do not support it.
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
  const energy::MachineModel model = model_of(machine);
  std::string out = fmt::format("# {}; um^2 of one of each\nART:\n  version: 0.4\n  tables:\n", machine.name);
  for (const energy::ModelPart& part : model.parts()) {
    out += fmt::format("    - {{name: 'attnvp.{}[1..{}]', area: {}}}\n", part.title(), part.count,
                       part.area_mm2 * kUm2PerMm2);
  }
  return out;
}

}  // namespace attnvp::cli
