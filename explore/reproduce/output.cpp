#include "explore/reproduce/output.h"

#include <fmt/format.h>

#include "explore/reproduce/csv.h"
#include "platform/report/json.h"

namespace attnvp::reproduce {

namespace {

std::string machine_text(const MachineConfig& m) {
  return fmt::format("{}: {} cores of {} x {} MACs and {} lanes, {:.3g} GHz, {:.3g} MiB L1, DRAM at {:.3g} GB/s",
                     m.name, m.clusters * m.cores, m.mac.rows, m.mac.columns, m.vec.lanes, m.clock_hz / 1e9,
                     static_cast<double>(m.l1.size_bytes) / (1 << 20), m.dram.bytes_per_second / 1e9);
}

}  // namespace

std::string to_text(const Study& s, const std::vector<Section>& all) {
  std::string out = "MAS-Attention on " + machine_text(s.machine) + "\n";
  for (const Section& section : all) out += "\n" + to_text(section);
  return out;
}

std::string to_markdown(const Study& s, const std::vector<Section>& all) {
  std::string out = fmt::format(
      "# The MAS-Attention paper, reproduced\n\n"
      "Written by `attnvp reproduce mas --hw {} --markdown FILE`; all numbers of ours come from runs.\nThe paper's "
      "numbers "
      "are in `configs/paper`.\n\n"
      "The machine is {}.\nTile sizes are chosen for machine and layer, but for what a dataflow's option in the "
      "paper's "
      "setting pins\n(tileflow:row_blocks=8).\n",
      s.machine.name, machine_text(s.machine));
  for (const Section& section : all) out += "\n" + to_markdown(section);
  return out;
}

std::string to_json(const Study& s, const std::vector<Limit>& limits, const DavinciStudy& davinci,
                    const MemoryStudy& memory) {
  using nlohmann::ordered_json;
  ordered_json j = report::json_document();
  j["hardware"] = s.machine.name;
  std::size_t passed = 0;
  for (const auto& [place, result] : s.results) passed += result.golden_checked && result.golden.passed ? 1 : 0;
  j["golden"] = {{"checked", s.full_data}, {"runs", s.results.size()}, {"passed", passed}};
  j["entries"] = entries_json(entries(s));
  j["runs"] = ordered_json::array();
  for (const std::string& network : s.paper.networks) {
    for (const std::string& dataflow : s.dataflows) {
      const job::Result& r = s.at(network, dataflow);
      ordered_json run{
          {"network", network}, {"dataflow", dataflow}, {"schedule", papers_setting(dataflow)}, {"cycles", r.cycles}};
      for (const auto& [key, value] : job::tiling_text(r.schedule.tiling)) run["tiling"][key] = value;
      run["dram"] = {{"read_bytes", 2 * r.sum("dram", "read_words")},
                     {"write_bytes", 2 * r.sum("dram", "write_words")}};
      for (const std::string& part : r.energy_parts()) run["energy_pj"][part] = r.energy_pj(part);
      run["energy_pj"]["total"] = r.total_energy_pj();
      j["runs"].push_back(std::move(run));
    }
  }
  j["best"] = ordered_json::array();
  for (const std::string& network : s.paper.networks) {
    for (const std::string& dataflow : s.paper.dataflows) {
      const auto best = s.best.find({network, dataflow});
      if (best == s.best.end()) continue;
      const job::Result& r = best->second.result;
      ordered_json run{{"network", network},
                       {"dataflow", dataflow},
                       {"cycles", r.cycles},
                       {"energy_pj", r.total_energy_pj()},
                       {"simulations", best->second.simulations}};
      for (const auto& [key, value] : job::tiling_text(r.schedule.tiling)) run["tiling"][key] = value;
      j["best"].push_back(std::move(run));
    }
  }
  j["findings"] = findings(s);
  if (!limits.empty()) j["limits"] = ordered_json::array();
  for (const Limit& l : limits) {
    j["limits"].push_back({{"dataflow", l.dataflow},
                           {"cores", l.cores},
                           {"rows", l.rows},
                           {"tokens", l.tokens},
                           {"paper", s.paper.claim("tokens", l.dataflow)},
                           {"cycles", l.cycles},
                           {"l1_peak_bytes", l.l1_peak_bytes},
                           {"next", l.refused}});
  }
  j["davinci"] = ordered_json::array();
  for (const DavinciStudy::Machine& m : davinci.machines) {
    ordered_json machine{{"changed", m.changed}};
    for (const auto& [place, cycles] : m.cycles) machine["cycles"][place.first][place.second] = cycles;
    j["davinci"].push_back(std::move(machine));
  }
  for (const MemoryStudy::Machine* m : {&memory.ideal, &memory.real}) {
    for (const auto& [place, cycles] : m->cycles) j["memory"][m->hardware][place.first][place.second] = cycles;
  }
  return report::json_text(j);
}

std::string to_csv(const Study& s, const std::vector<Limit>& limits) {
  std::string out = entries_csv(entries(s));
  for (const Limit& l : limits) {
    const double stated = s.paper.claim("tokens", l.dataflow);
    out += fmt::format("tokens,{} cores,{},{},{},{},{},{},\n", l.cores, l.dataflow,
                       stated > 0 ? fmt::to_string(stated) : "", l.tokens,
                       stated > 0 ? fmt::format("{:.6f}", static_cast<double>(l.tokens) / stated) : "",
                       csv_cell(l.refused), l.dataflow);
  }
  return out;
}

}  // namespace attnvp::reproduce
