#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "explore/layers/layers.h"
#include "platform/config/step.h"
#include "platform/report/json.h"
#include "platform/report/power.h"
#include "platform/report/report.h"
#include "platform/report/table.h"

namespace attnvp::explore {

namespace {

using report::with_commas;
using report::with_prefix;

std::string golden(const job::Result& r) {
  return !r.golden_checked ? "not checked" : r.golden.passed ? "passed" : "FAILED";
}

// Of what the whole machine's arrays could do.
double useful(double macs, std::uint64_t cycles, const LayerRun& run) {
  const std::uint64_t peak = run.operations.front().result.peak.macs_per_cycle * run.mac_rate;
  return macs / (static_cast<double>(cycles) * static_cast<double>(peak));
}

std::string shape(const job::Result& r) {
  const config::Network& n = r.network;
  if (n.step == config::Step::kRotate) return fmt::format("{} x {}, heads of {}", n.seq_q, n.seq_kv, n.emb);
  if (config::is_row_step(n.step)) return fmt::format("{} {} x {}", config::step_word(n), n.seq_q, n.seq_kv);
  if (n.step != config::Step::kAttention) return fmt::format("{} x {} x {}", n.seq_q, n.seq_kv, n.emb);
  const std::string heads = n.heads_of_kv() == n.heads ? fmt::format("{} heads", n.heads)
                                                       : fmt::format("{}/{} heads", n.heads, n.heads_of_kv());
  return fmt::format("{}, {} x {} x {}", heads, n.seq_q, n.seq_kv, n.emb);
}

// Members `energy_pj`, `power_w` and `area_mm2`, as a run's own document has them.
void add_energy(nlohmann::ordered_json& all, const LayerRun& run) {
  std::vector<std::string> parts;
  for (const OperationRun& o : run.operations) {
    for (const std::string& part : o.result.energy_parts()) {
      if (std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(part);
    }
  }
  const double watts_of_pj = 1e-12 / run.seconds();
  all["energy_pj"]["total"] = run.energy_pj();
  all["power_w"]["total"] = run.energy_pj() * watts_of_pj;
  for (const std::string& part : parts) {
    double pj = 0;
    for (const OperationRun& o : run.operations) pj += o.result.energy_pj(part);
    all["energy_pj"][part] = pj;
    all["power_w"][part] = pj * watts_of_pj;
  }
  report::add_area(all, run.operations.front().result);  // one machine for all of them
}

}  // namespace

std::string to_text(const LayerRun& run, const std::string& hardware) {
  report::Table table;
  for (const char* title : {"operation", "shape", "dataflow"}) table.column(title, report::Table::Align::kLeft);
  for (const char* title : {"cycles", "share", "time", "useful MACs", "DRAM traffic", "energy", "golden"})
    table.column(title);
  table.column("bound", report::Table::Align::kLeft);
  const std::uint64_t cycles = run.cycles();
  for (const auto& [name, r] : run.operations) {
    const std::uint64_t bytes = 2 * (r.sum("dram", "read_words") + r.sum("dram", "write_words"));
    table.row({name, shape(r), r.schedule.text, with_commas(r.cycles),
               report::percent(static_cast<double>(r.cycles) / static_cast<double>(cycles)),
               with_prefix(r.seconds(), "s"),
               report::percent(useful(static_cast<double>(r.sum("mac", "macs")), r.cycles, run)),
               with_prefix(static_cast<double>(bytes), "B"), with_prefix(r.total_energy_pj() * 1e-12, "J"), golden(r),
               fmt::format("{} {}", r.bound.most.resource, report::percent(r.bound.share()))});
  }
  table.row({"layer", fmt::format("{} tokens", with_commas(run.tokens)), "", with_commas(cycles), "100.0%",
             with_prefix(run.seconds(), "s"), report::percent(useful(static_cast<double>(run.macs()), cycles, run)),
             with_prefix(static_cast<double>(run.dram_bytes()), "B"), with_prefix(run.energy_pj() * 1e-12, "J"), "",
             ""});
  std::string text = fmt::format("{} on {}\n\n{}", run.network.name, hardware, table.text(text::line_width()));
  if (run.layers > 1) {
    text += fmt::format("\n{} layers: {}, {}; {:.4g} tokens a second\n", run.layers,
                        with_prefix(run.layers * run.seconds(), "s"),
                        with_prefix(run.layers * run.energy_pj() * 1e-12, "J"), run.tokens_per_second());
  }
  if (run.network.linear) text += "\nlinear=1: without norms, activations, residual sums and rotary embedding.\n";
  return text;
}

std::string to_json(const LayerRun& run, const std::string& hardware, const std::string& hash,
                    const std::vector<std::string>& overrides) {
  using json = nlohmann::ordered_json;
  json all = report::json_document();
  all["hardware"] = hardware;
  report::add_machine(all, hash, overrides);
  const config::Network& n = run.network;
  all["network"] = {{"name", n.name},   {"batch", n.batch},   {"heads", n.heads},
                    {"seq_q", n.seq_q}, {"seq_kv", n.seq_kv}, {"emb", n.emb}};
  if (n.heads_of_kv() != n.heads) all["network"]["kv_heads"] = n.heads_of_kv();
  all["scope"] = run.network.scope == config::Scope::kModel ? "model" : "layer";
  all["tokens"] = run.tokens;
  all["layers"] = run.layers;
  all["cycles"] = run.cycles();
  all["frequency_hz"] = run.operations.front().result.frequency_hz;
  all["seconds"] = run.seconds();
  add_energy(all, run);
  all["dram_bytes"] = run.dram_bytes();
  all["macs"] = run.macs();
  all["tokens_per_second"] = run.tokens_per_second();
  const bool checked = run.operations.front().result.golden_checked;
  all["golden"] = {{"checked", checked}, {"passed", checked ? json(run.golden_passed()) : json()}};
  all["operations"] = json::array();
  for (const auto& [name, r] : run.operations) {
    json one;
    one["operation"] = name;
    one["run"] = json::parse(report::to_json(r, hardware));
    all["operations"].push_back(one);
  }
  return report::json_text(all);
}

}  // namespace attnvp::explore
