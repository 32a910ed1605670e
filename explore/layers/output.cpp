// Text and JSON of layers and models.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "explore/layers/layers.h"
#include "platform/report/json.h"
#include "platform/report/report.h"
#include "platform/report/table.h"
#include "platform/workload/layers.h"

namespace attnvp::explore {

namespace {

using json = nlohmann::ordered_json;
using report::rate_text;
using report::with_commas;
using report::with_prefix;

std::string golden(const job::RunResult& r) {
  return !r.golden_checked ? "not checked" : r.golden.passed ? "passed" : "FAILED";
}

// Share of the peak of the machine's MAC arrays.
std::string useful(const LayerTotals& t, const LayerRun& run) {
  const std::uint64_t peak = run.layer().operations.front().result.peak.macs_per_cycle * run.mac_rate;
  return report::percent(static_cast<double>(t.macs) / (static_cast<double>(t.cycles) * static_cast<double>(peak)));
}

std::string shape(const job::RunResult& r) {
  if (const workload::RowOperation* rows = r.network.rows()) {
    const bool rotates = rows->opcode == hal::Opcode::kRotate;
    return rotates ? fmt::format("{} x {}, heads of {}", rows->rows, rows->columns, rows->head)
                   : fmt::format("{} {} x {}", rows->word(), rows->rows, rows->columns);
  }
  if (const workload::Gemm* g = r.network.gemm()) {
    return fmt::format("{} x {} x {}{}", g->rows, g->columns, g->depth,
                       g->fusion.down > 0 ? fmt::format(", down {}", g->fusion.down) : "");
  }
  const workload::Attention& n = r.network.attention();
  const std::string heads = n.heads_of_kv() == n.heads ? fmt::format("{} heads", n.heads)
                                                       : fmt::format("{}/{} heads", n.heads, n.heads_of_kv());
  return fmt::format("{}, {} x {} x {}", heads, n.seq_q, n.seq_kv, n.emb);
}

std::string shape(const OperationRun& o) {
  return o.count == 1 ? shape(o.result) : fmt::format("{} times {}", o.count, shape(o.result));
}

// Members `energy_pj`, `power_w` and `area_mm2` of one layer, as in the JSON report of a single run.
void add_energy(json& all, const LayerRun& run) {
  const std::vector<OperationRun>& operations = run.layer().operations;
  const LayerTotals sum = run.layer().totals();
  std::vector<std::string> parts;
  for (const OperationRun& o : operations) {
    for (const std::string& part : o.result.energy_parts()) {
      if (std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(part);
    }
  }
  const double watts_of_pj = 1e-12 / sum.seconds;
  all["energy_pj"]["total"] = sum.energy_pj;
  all["power_w"]["total"] = sum.energy_pj * watts_of_pj;
  for (const std::string& part : parts) {
    double pj = 0;
    for (const OperationRun& o : operations) pj += o.count * o.result.energy_pj(part);
    all["energy_pj"][part] = pj;
    all["power_w"][part] = pj * watts_of_pj;
  }
  report::add_area(all, operations.front().result);  // all operations use the same machine
}

// Advice for the operation that takes the most cycles.
std::string advice_of(const LayerRun& run) {
  for (const GroupRun& g : run.groups) {
    for (const OperationRun& o : g.operations) {
      if (!o.result.bound.advice.empty()) {
        return o.name + ": " + report::bound_text(o.result.bound);
      }
    }
  }
  return {};
}

// Operations of a graph that are not run, by their kind.
std::string unsupported_text(const workload::OperationGraph& graph) {
  std::map<std::string, std::pair<std::size_t, double>> kinds;  // number and share of the multiply-accumulates
  for (const workload::UnsupportedOperation& u : graph.unsupported) {
    auto& [number, share] = kinds[u.operation];
    ++number, share += u.share_of_macs;
  }
  std::string text;
  for (const auto& [kind, figures] : kinds) {
    text += fmt::format("{}{} {} ({} of MACs)", text.empty() ? "" : ", ", figures.first, kind,
                        report::percent(figures.second));
  }
  return text.empty() ? text : "\nnot run: " + text + "\n";
}

// Results of the layers against chains in double precision.
std::string chains_text(const LayerRun& run) {
  std::string text;
  for (const GroupRun& g : run.groups) {
    for (const job::ChainResult& c : g.chain) {
      text += fmt::format("{:<13}{}{}: {}, errors {:.2g} (rms) against double precision; rounding alone {:.2g}\n",
                          "chain", run.is_model() ? g.name + ", " : "", c.tensor, c.golden.passed ? "passed" : "FAILED",
                          c.rms_error, c.rms_noise);
    }
  }
  return text;
}

json chains_json(const LayerRun& run) {
  json all = json::array();
  for (const GroupRun& g : run.groups) {
    for (const job::ChainResult& c : g.chain) {
      all.push_back({{"group", g.name},
                     {"tensor", c.tensor},
                     {"passed", c.golden.passed},
                     {"max_abs_error", static_cast<float>(c.golden.max_abs_error)},
                     {"rms_error", static_cast<float>(c.rms_error)},
                     {"rms_noise", static_cast<float>(c.rms_noise)}});
    }
  }
  return all;
}

json totals_json(const LayerTotals& t) {
  return {{"cycles", t.cycles},
          {"seconds", t.seconds},
          {"macs", t.macs},
          {"dram_bytes", t.dram_bytes},
          {"energy_pj", t.energy_pj}};
}

json model_json(const LayerRun& run) {
  json model = totals_json(run.totals());
  const workload::ParameterCount parameters = workload::parameters_of(workload::groups_of(run.network));
  model["parameters"] = parameters.all;
  model["active_parameters"] = parameters.active;
  model["layer_groups"] = json::array();
  for (const GroupRun& g : run.groups) {
    json group{{"name", g.name}, {"count", g.count}};
    group.update(totals_json(g.totals()));
    model["layer_groups"].push_back(group);
  }
  return model;
}

}  // namespace

std::string to_text(const LayerRun& run, const std::string& hardware, bool has_energy_range) {
  report::Table table;
  for (const char* title : {"operation", "shape", "dataflow"}) table.column(title, report::Table::Align::kLeft);
  for (const char* title : {"cycles", "share", "time", "useful MACs", "DRAM traffic", "energy", "golden"})
    table.column(title);
  table.column("bound", report::Table::Align::kLeft);
  const LayerTotals all = run.totals();
  const auto row = [&](const std::string& name, const std::string& what, const std::string& dataflow,
                       const LayerTotals& t, std::uint32_t times, const std::string& checked,
                       const std::string& bound) {
    const double share = times * static_cast<double>(t.cycles) / static_cast<double>(all.cycles);
    table.row({name, what, dataflow, with_commas(t.cycles), report::percent(share), with_prefix(t.seconds, "s"),
               useful(t, run), with_prefix(static_cast<double>(t.dram_bytes), "B"),
               with_prefix(t.energy_pj * 1e-12, "J"), checked, bound});
  };
  for (const GroupRun& g : run.groups) {
    for (const OperationRun& o : g.operations) {
      const job::RunResult& r = o.result;
      row(o.name, shape(o), r.schedule.text, totals_of(o), g.count, golden(r),
          fmt::format("{} {}", r.bound.most.resource, report::percent(r.bound.share())));
    }
    if (g.operations.size() == 1) continue;
    const bool has_own_rows = run.is_model() && run.network.model.encoder > 0;  // the encoder's are no tokens
    const std::string what = g.count > 1 ? fmt::format("one of {} layers", g.count)
                             : run.network.graph != nullptr || has_own_rows
                                 ? fmt::format("{} operations", g.operations.size())
                                 : fmt::format("{} tokens", with_commas(run.tokens));
    row(g.name, what, "", g.totals(), g.count, "", "");
  }
  if (run.is_model()) row("model", fmt::format("{} layers", run.layers), "", all, 1, "", "");
  const std::string block = run.is_model() ? "" : run.network.model.block_text();
  std::string text = fmt::format("{} on {}{}\n\n{}", run.network.name(), hardware,
                                 block.empty() ? "" : "\nblock: " + block, table.text(text::line_width()));
  if (run.is_model()) {
    text += fmt::format("\n{} layers: {}, {}; {} tokens/s\n", run.layers, with_prefix(all.seconds, "s"),
                        with_prefix(all.energy_pj * 1e-12, "J"), rate_text(run.tokens_per_second()));
  }
  const auto bytes = [](std::uint64_t n) { return with_prefix(static_cast<double>(n), "B"); };
  const job::RunResult sum = combined(run);
  text += fmt::format("\n{}{:<13}{}: {} of weights, {} of K and V, {} of one operation\n", report::power_text(sum),
                      "DRAM need", bytes(run.need.total()), bytes(run.need.weights), bytes(run.need.cache),
                      bytes(run.need.activations));
  text += chains_text(run);
  if (const std::string advice = advice_of(run); !advice.empty()) text += advice + "\n";
  if (has_energy_range) text += "\n" + report::energy_range_text(sum);
  if (run.network.graph != nullptr) text += unsupported_text(*run.network.graph);
  if (run.network.model.linear) text += "\nlinear=1: without norms, activations, residual sums and rotary embedding.\n";
  return text;
}

std::string to_json(const LayerRun& run, const std::string& hardware, const std::string& hash,
                    const std::vector<std::string>& overrides, bool has_energy_range) {
  json all = report::json_document();
  all["hardware"] = hardware;
  report::add_machine(all, hash, overrides);
  const workload::Workload& n = run.network;
  const workload::Extents e = n.extents();
  all["network"] = {{"name", n.name()}, {"batch", e.batch},   {"heads", e.heads},
                    {"seq_q", e.seq_q}, {"seq_kv", e.seq_kv}, {"emb", e.emb}};
  if (n.heads_of_kv() != e.heads) all["network"]["kv_heads"] = n.heads_of_kv();
  const LayerTotals layer = run.layer().totals();
  all["scope"] = n.graph != nullptr ? "graph" : run.is_model() ? "model" : "layer";
  if (n.graph == nullptr) all["tokens"] = run.tokens;
  all["layers"] = run.layers;
  all["cycles"] = layer.cycles;
  all["frequency_hz"] = run.layer().operations.front().result.frequency_hz;
  all["seconds"] = layer.seconds;
  add_energy(all, run);
  all["dram_bytes"] = layer.dram_bytes;
  all["macs"] = layer.macs;
  if (n.graph == nullptr) all["tokens_per_second"] = run.tokens_per_second();
  const bool checked = run.golden_checked();
  all["golden"] = {{"checked", checked}, {"passed", checked ? json(run.golden_passed()) : json()}};
  if (checked) all["golden"]["chain"] = chains_json(run);
  all["dram_need"] = {
      {"weights_bytes", run.need.weights}, {"cache_bytes", run.need.cache}, {"activation_bytes", run.need.activations}};
  if (has_energy_range) report::add_energy_range(all, combined(run));
  if (run.is_model()) all["model"] = model_json(run);
  if (n.graph != nullptr) {
    all["unsupported"] = json::array();
    for (const workload::UnsupportedOperation& u : n.graph->unsupported) {
      all["unsupported"].push_back({{"name", u.name}, {"operation", u.operation}, {"share_of_macs", u.share_of_macs}});
    }
  }
  all["operations"] = json::array();
  for (const GroupRun& g : run.groups) {
    for (const OperationRun& o : g.operations) {
      json one;
      one["operation"] = o.name;
      if (run.is_model()) one["group"] = g.name;
      if (o.count > 1) one["count"] = o.count;
      one["run"] = json::parse(report::to_json(o.result, hardware));
      all["operations"].push_back(one);
    }
  }
  return report::json_text(all);
}

}  // namespace attnvp::explore
