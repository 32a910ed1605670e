#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "platform/report/report.h"
#include "platform/report/table.h"

namespace attnvp::report {

namespace {

struct PowerRange {
  double low = 0, high = 0;
};

PowerRange range_of(const job::RunResult& r, const std::string& part) {
  PowerRange range;
  for (const job::CounterValue& c : r.counters) {
    if (c.component.empty() || (!part.empty() && job::part_of(c.component) != part)) continue;
    range.low += c.low_pj;
    range.high += c.high_pj;
  }
  return range;
}

std::string joules(double pj) { return with_prefix(pj * 1e-12, "J"); }

}  // namespace

void add_power(nlohmann::ordered_json& document, const job::RunResult& r) {
  document["power_w"]["total"] = r.total_power_w();
  for (const std::string& part : r.energy_parts()) document["power_w"][part] = r.power_w(part);
  add_area(document, r);
}

void add_area(nlohmann::ordered_json& document, const job::RunResult& r) {
  document["area_mm2"]["total"] = r.floorplan.total_mm2();
  for (const auto& [part, mm2] : r.floorplan.parts) document["area_mm2"][part] = mm2;
  document["area_mm2"]["spare"] = r.floorplan.spare_mm2;
}

void add_energy_range(nlohmann::ordered_json& document, const job::RunResult& r) {
  const auto add = [&](const std::string& name, const std::string& part) {
    const PowerRange range = range_of(r, part);
    document["energy_range_pj"]["low"][name] = range.low;
    document["energy_range_pj"]["high"][name] = range.high;
  };
  add("total", "");
  for (const std::string& part : r.energy_parts()) add(part, part);
  document["area_range_mm2"] = {{"low", r.floorplan.low_mm2}, {"high", r.floorplan.high_mm2}};
}

std::string power_text(const job::RunResult& r) {
  const double watts = r.total_power_w();
  std::string out = fmt::format("{:<13}{}\n", "power", with_prefix(watts, "W"));
  out += fmt::format("{:<13}{:.3g} mm2\n", "area", r.floorplan.total_mm2());
  if (r.tdp_watts > 0 && watts > r.tdp_watts) {
    out += fmt::format("The device draws {}, {:.2f} times the {} that it may (tdp).\n", with_prefix(watts, "W"),
                       watts / r.tdp_watts, with_prefix(r.tdp_watts, "W"));
  }
  return out;
}

std::string actions_text(const job::RunResult& r) {
  struct PowerRow {
    std::uint64_t count = 0;
    double pj = 0;
  };
  constexpr std::size_t kByTheBit = 3;  // actions of memory without commands: reads, writes, time
  std::string out;
  for (const char* component : {"attnvp.dram", "attnvp.control"}) {
    std::map<std::string, PowerRow> rows;
    for (const job::CounterValue& c : r.counters) {
      if (c.component != component || c.energy_pj == 0) continue;
      rows[c.action].count += c.value;
      rows[c.action].pj += c.energy_pj;
    }
    if (rows.size() <= kByTheBit) continue;
    const std::string part = job::part_of(component);
    Table table;
    table.column(part, Table::Align::kLeft);
    for (const char* title : {"number", "energy", "share"}) table.column(title);
    for (const auto& [action, row] : rows) {
      table.row({action, with_commas(row.count), joules(row.pj), percent(row.pj / r.energy_pj(part))});
    }
    out += "\n" + table.text(text::line_width());
  }
  return out;
}

std::string energy_range_text(const job::RunResult& r) {
  Table table;
  table.column("energy", Table::Align::kLeft);
  for (const char* title : {"low", "spent", "high"}) table.column(title);
  const auto row = [&](const std::string& name, const std::string& part, double pj) {
    const PowerRange range = range_of(r, part);
    table.row({name, joules(range.low), joules(pj), joules(range.high)});
  };
  for (const std::string& part : r.energy_parts()) row(part, part, r.energy_pj(part));
  row("total", "", r.total_energy_pj());
  const PowerRange all = range_of(r, "");
  const auto watts = [&](double pj) { return with_prefix(pj * 1e-12 / r.seconds(), "W"); };
  return table.text(text::line_width()) + fmt::format("{:<13}{} to {}\n{:<13}{:.3g} mm2 to {:.3g} mm2\n", "power",
                                                      watts(all.low), watts(all.high), "area", r.floorplan.low_mm2,
                                                      r.floorplan.high_mm2);
}

EnergyOrder energy_order(const job::RunResult& a, const job::RunResult& b) {
  // By component and action: the difference is linear in each energy, so the ends of the ranges give its extremes.
  std::map<std::string, double> difference;
  std::map<std::string, PowerRange> factors;
  const auto add = [&](const job::RunResult& r, double sign) {
    for (const job::CounterValue& c : r.counters) {
      if (c.component.empty() || c.energy_pj <= 0) continue;
      const std::string key = c.component + " " + c.action;
      difference[key] += sign * c.energy_pj;
      factors[key] = {c.low_pj / c.energy_pj, c.high_pj / c.energy_pj};
    }
  };
  add(a, 1);
  add(b, -1);
  double least = 0, most = 0;
  for (const auto& [key, pj] : difference) {
    const auto [first, second] = std::minmax({pj * factors[key].low, pj * factors[key].high});
    least += first;
    most += second;
  }
  if (most < 0) return EnergyOrder::kLess;
  return least > 0 ? EnergyOrder::kMore : EnergyOrder::kUndecided;
}

std::string ranking_text(const std::vector<job::RunResult>& results) {
  std::vector<const job::RunResult*> order;
  for (const job::RunResult& r : results) order.push_back(&r);
  std::stable_sort(order.begin(), order.end(), [](const job::RunResult* a, const job::RunResult* b) {
    return a->total_energy_pj() < b->total_energy_pj();
  });
  Table table;
  table.column("dataflow", Table::Align::kLeft);
  for (const char* title : {"low", "energy", "high"}) table.column(title);
  table.column("than the next", Table::Align::kLeft);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const job::RunResult& r = *order[i];
    const PowerRange range = range_of(r, "");
    const bool last = i + 1 == order.size();
    table.row({r.schedule.text, joules(range.low), joules(r.total_energy_pj()), joules(range.high),
               last                                                   ? ""
               : energy_order(r, *order[i + 1]) == EnergyOrder::kLess ? "less"
                                                                      : "undecided within the range"});
  }
  return table.text(text::line_width());
}

std::string action_counts_yaml(const job::RunResult& result) {
  // Grouped by components of the energy table, so that an ERT of the machine has them; in module-tree order.
  // Accelergy's calculator finds no energy for arguments that are an empty map.
  std::vector<std::string> components;
  std::map<std::string, std::map<std::string, std::uint64_t>> counts;
  for (const job::CounterValue& c : result.counters) {
    if (c.component.empty()) continue;
    if (counts.count(c.component) == 0) components.push_back(c.component);
    counts[c.component][c.action] += c.value;
  }
  std::string out = "action_counts:\n  version: 0.4\n  local:\n";
  for (const std::string& component : components) {
    out += fmt::format("    - name: {}\n      action_counts:\n", component);
    for (const auto& [action, count] : counts[component]) {
      out += fmt::format("        - {{name: {}, counts: {}}}\n", action, count);
    }
  }
  return out;
}

}  // namespace attnvp::report
