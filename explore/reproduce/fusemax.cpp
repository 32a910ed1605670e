// `attnvp reproduce fusemax`.
#include <fmt/format.h>

#include "explore/reproduce/commands.h"
#include "explore/reproduce/fusemax_tables.h"
#include "explore/reproduce/outputs.h"
#include "platform/report/json.h"

namespace attnvp::reproduce {

std::string fusemax_text(const FusemaxStudy& s) {
  std::string out = fmt::format("FuseMax on {}, its baselines on {}\n", s.machine.name, s.baseline.name);
  for (const Section& section : fusemax_sections(s)) out += "\n" + to_text(section);
  return out;
}

std::string fusemax_markdown(const FusemaxStudy& s) {
  std::string out = fmt::format(
      "# The FuseMax paper, reproduced\n\n"
      "Written by `attnvp reproduce fusemax --markdown FILE`; all numbers of ours come from runs.\nThe paper's "
      "numbers, "
      "`configs/paper/fusemax_*.csv`, are its published model's.\n\n"
      "`fusemax` and its serial binding run on the machine `{}`, the others on `{}`. Tile sizes are chosen by "
      "timing runs.\n",
      s.machine.name, s.baseline.name);
  for (const Section& section : fusemax_sections(s)) out += "\n" + to_markdown(section);
  return out;
}

std::string fusemax_json(const FusemaxStudy& s) {
  using nlohmann::ordered_json;
  ordered_json j = report::json_document();
  j["hardware"] = {s.machine.name, s.baseline.name};
  j["entries"] = entries_json(fusemax_entries(s));
  j["runs"] = ordered_json::array();
  for (const FusemaxPoint& p : s.points) {
    for (const std::string& d : s.dataflows) {
      const Measure& m = p.ours.at(d);
      ordered_json run{
          {"network", p.name()},
          {"heads", p.heads},
          {"tokens", p.tokens},
          {"emb", p.emb},
          {"dataflow", d},
          {"simulated", sample_text(job::parse_dataflow(d), p.tokens)},
          {"cycles", m[kCycles]},
          {"utilization",
           {{"mac", m.mac_utilization()}, {"mac_pe_weighted", m.pe_utilization()}, {"vec", m.vec_utilization()}}},
          {"dram_bytes", m[kDramBytes]},
          {"l1_peak_bytes", m.l1_peak_bytes},
          {"energy_pj", {{"total", m.energy_pj()}}}};
      if (const auto third = p.residual.find(d); third != p.residual.end()) {
        run["third_sample"] = {{"at", third->second.first}, {"cycles_off", third->second.second}};
      }
      for (const auto& [part, pj] : m.parts_pj) run["energy_pj"][part] = pj;
      for (const auto& [key, value] : job::tiling_text(m.tiling)) run["tiling"][key] = value;
      j["runs"].push_back(std::move(run));
    }
  }
  return report::json_text(j);
}

std::string fusemax_csv(const FusemaxStudy& s) { return entries_csv(fusemax_entries(s)); }

}  // namespace attnvp::reproduce

namespace attnvp::cli {

int reproduce_fusemax(const ReproduceFusemaxArguments& a) {
  namespace rp = reproduce;
  rp::Outputs outputs(a.json, a.csv, a.markdown);
  rp::FusemaxStudy study;
  {
    rp::Progress progress;
    study = rp::run_fusemax_study(a.tokens, [&progress](const std::string& what) { progress.show(what); });
  }
  outputs.write(rp::fusemax_json(study), rp::fusemax_csv(study), rp::fusemax_markdown(study), rp::fusemax_text(study));
  return 0;
}

}  // namespace attnvp::cli
