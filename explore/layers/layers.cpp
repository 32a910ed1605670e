#include "explore/layers/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "explore/tuning/portfolio.h"
#include "models/engine/mac_engine/mac_plan.h"
#include "platform/machine/error.h"
#include "platform/report/json.h"
#include "platform/report/power.h"
#include "platform/report/report.h"
#include "platform/report/table.h"
#include "platform/workload/workload.h"

namespace attnvp::explore {

namespace {

constexpr std::uint64_t kMostDramBytes = std::uint64_t{16} << 40;  // maximum of dram.size

template <typename Part>
auto sum_of(const LayerRun& run, const Part& part) {
  decltype(part(run.operations.front().result)) sum{};
  for (const OperationRun& o : run.operations) sum += part(o.result);
  return sum;
}

job::Schedule schedule_of(const MachineConfig& machine, const workload::Workload& n, const std::string& dataflow,
                          const config::EnergyTable& energy, const job::Tiling& tiling, const TuningOptions& options) {
  const schedule::FirmwareImage& firmware = schedule::firmware_of(machine);
  if (!n.is_attention()) {
    return tune(machine, n, job::parse_dataflow(job::dataflows_for(n, firmware).front()->name, firmware), energy,
                options);
  }
  if (dataflow == "auto") return pick_dataflow(machine, n, tiling, energy, options).best().schedule;
  job::Schedule schedule = job::parse_dataflow(dataflow, firmware);
  schedule.tiling = tiling;
  return tune(machine, n, schedule, energy, options);
}

// DRAM capacity in bytes: data kept for the whole run, and the additional need of each operation.
class Capacity {
 public:
  Capacity(const workload::Workload& network, const std::vector<workload::LayerOperation>& operations)
      : network_(network), layers_(network.scope == workload::Scope::kModel ? network.model.layers : 1) {
    for (const workload::LayerOperation& o : operations) {
      (o.workload.is_attention() ? cache_ : weights_) += kept(o.workload);
    }
    hold_stream(operations);
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const workload::Workload& n = operations[i].workload;
      const job::TensorBytes bytes = job::tensor_bytes(n);
      const std::uint64_t result = n.is_attention() ? bytes.o : n.result_elements() * sizeof(arith::Half);
      add(i, n, bytes.q + bytes.k + bytes.v + result);
    }
  }

  // Adds `bytes`, the DRAM need of operation i alone.
  void add(std::size_t i, const workload::Workload& operation, std::uint64_t bytes) {
    activations_ = std::max(activations_, bytes - kept(operation) + stream_[i]);
  }

  void require(const MachineConfig& machine) const {
    const std::uint64_t need = layers_ * (weights_ + cache_) + activations_;
    if (need <= machine.dram.size_bytes) return;
    const std::string what = layers_ == 1 ? "the layer's tensors" : fmt::format("the tensors of {} layers", layers_);
    throw config::ConfigError(fmt::format(
        "{}: {} need at least {} bytes of DRAM ({} of weights, {} of K and V, {} of one operation's "
        "activations), dram.size is {} bytes",
        network_.name(), what, need, layers_ * weights_, layers_ * cache_, activations_, machine.dram.size_bytes));
  }

 private:
  static bool is_norm(const workload::Workload& n) {
    return n.rows() != nullptr && n.rows()->opcode == hal::Opcode::kNorm;
  }
  // Weights or cache.
  static std::uint64_t kept(const workload::Workload& n) {
    const bool keeps = n.rows() == nullptr || is_norm(n);
    const job::TensorBytes bytes = job::tensor_bytes(n);
    return keeps ? bytes.k + bytes.v : 0;
  }

  // The residual input is kept from the first operation that reads it up to the sum. Those two have it as an operand.
  void hold_stream(const std::vector<workload::LayerOperation>& operations) {
    const std::uint64_t bytes = workload::tokens_of(network_) * network_.model.hidden * sizeof(arith::Half);
    bool read = false;
    for (const workload::LayerOperation& o : operations) {
      const bool sum = o.workload.rows() != nullptr && o.workload.rows()->is_elementwise();
      const bool behind = is_norm(o.workload) && network_.model.norm_place == workload::NormPlace::kPost;
      stream_.push_back(read && !sum && !network_.model.linear ? bytes : 0);
      read = !sum && !(behind && !read);
    }
  }

  const workload::Workload& network_;
  std::uint64_t layers_, weights_ = 0, cache_ = 0, activations_ = 0;
  std::vector<std::uint64_t> stream_;  // held during each operation
};

}  // namespace

std::uint64_t LayerRun::cycles() const {
  return sum_of(*this, [](const job::RunResult& r) { return r.cycles; });
}
double LayerRun::seconds() const {
  return sum_of(*this, [](const job::RunResult& r) { return r.seconds(); });
}
double LayerRun::energy_pj() const {
  return sum_of(*this, [](const job::RunResult& r) { return r.total_energy_pj(); });
}
std::uint64_t LayerRun::dram_bytes() const {
  return sum_of(
      *this, [](const job::RunResult& r) { return 2 * (r.sum("dram", "read_words") + r.sum("dram", "write_words")); });
}
std::uint64_t LayerRun::macs() const {
  return sum_of(*this, [](const job::RunResult& r) { return r.sum("mac", "macs"); });
}
double LayerRun::tokens_per_second() const { return static_cast<double>(tokens) / (layers * seconds()); }
bool LayerRun::golden_passed() const {
  return std::all_of(operations.begin(), operations.end(),
                     [](const OperationRun& o) { return !o.result.golden_checked || o.result.golden.passed; });
}

LayerRun run_layer(const MachineConfig& machine, const workload::Workload& network, const std::string& dataflow,
                   const config::EnergyTable& energy, const LayerOptions& options) {
  const std::vector<workload::LayerOperation> operations = workload::operations_of(network);
  LayerRun run;
  run.network = network;
  run.mac_rate = mac_rate(machine.mac, network.type());
  run.tokens = workload::tokens_of(network);
  run.layers = network.scope == workload::Scope::kModel ? network.model.layers : 1;
  Capacity capacity(network, operations);
  capacity.require(machine);  // checked before the slow choice of a dataflow
  std::vector<job::Schedule> schedules;
  MachineConfig boundless = machine;  // so that the total need is known
  boundless.dram.size_bytes = kMostDramBytes;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const workload::Workload& n = operations[i].workload;
    schedules.push_back(schedule_of(machine, n, dataflow, energy, options.tiling, options.tuning));
    if (!n.is_attention()) continue;
    capacity.add(i, n, job::make_job(boundless, n, schedules.back()).scratch.address - hal::kDramBase);
  }
  capacity.require(machine);
  for (std::size_t i = 0; i < operations.size(); ++i) job::make_job(machine, operations[i].workload, schedules[i]);
  job::Runner runner(machine, energy, options.full);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const workload::LayerOperation& o = operations[i];
    if (options.progress) options.progress(i, operations.size(), o.name);
    job::Tensors tensors;
    if (options.full) tensors = job::random_tensors(o.workload, options.seed + i);
    run.operations.push_back({o.name, runner.run(o.workload, schedules[i], options.full ? &tensors : nullptr, {})});
    run.operations.back().result.output.clear();
  }
  return run;
}

namespace {

using report::rate_text;
using report::with_commas;
using report::with_prefix;

std::string golden(const job::RunResult& r) {
  return !r.golden_checked ? "not checked" : r.golden.passed ? "passed" : "FAILED";
}

// Share of the peak of the machine's MAC arrays.
double useful(double macs, std::uint64_t cycles, const LayerRun& run) {
  const std::uint64_t peak = run.operations.front().result.peak.macs_per_cycle * run.mac_rate;
  return macs / (static_cast<double>(cycles) * static_cast<double>(peak));
}

std::string shape(const job::RunResult& r) {
  if (const workload::RowOperation* rows = r.network.rows()) {
    const bool rotates = rows->opcode == hal::Opcode::kRotate;
    return rotates ? fmt::format("{} x {}, heads of {}", rows->rows, rows->columns, rows->head)
                   : fmt::format("{} {} x {}", rows->word(), rows->rows, rows->columns);
  }
  if (const workload::Gemm* g = r.network.gemm()) return fmt::format("{} x {} x {}", g->rows, g->columns, g->depth);
  const workload::Attention& n = r.network.attention();
  const std::string heads = n.heads_of_kv() == n.heads ? fmt::format("{} heads", n.heads)
                                                       : fmt::format("{}/{} heads", n.heads, n.heads_of_kv());
  return fmt::format("{}, {} x {} x {}", heads, n.seq_q, n.seq_kv, n.emb);
}

// Members `energy_pj`, `power_w` and `area_mm2`, as in the JSON report of a single run.
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
  report::add_area(all, run.operations.front().result);  // all operations use the same machine
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
  std::string text = fmt::format("{} on {}\n\n{}", run.network.name(), hardware, table.text(text::line_width()));
  if (run.layers > 1) {
    text += fmt::format("\n{} layers: {}, {}; {} tokens/s\n", run.layers, with_prefix(run.layers * run.seconds(), "s"),
                        with_prefix(run.layers * run.energy_pj() * 1e-12, "J"), rate_text(run.tokens_per_second()));
  }
  if (run.network.model.linear) text += "\nlinear=1: without norms, activations, residual sums and rotary embedding.\n";
  return text;
}

std::string to_json(const LayerRun& run, const std::string& hardware, const std::string& hash,
                    const std::vector<std::string>& overrides) {
  using json = nlohmann::ordered_json;
  json all = report::json_document();
  all["hardware"] = hardware;
  report::add_machine(all, hash, overrides);
  const workload::Attention& n = run.network.attention();
  all["network"] = {{"name", n.name},   {"batch", n.batch},   {"heads", n.heads},
                    {"seq_q", n.seq_q}, {"seq_kv", n.seq_kv}, {"emb", n.emb}};
  if (n.heads_of_kv() != n.heads) all["network"]["kv_heads"] = n.heads_of_kv();
  all["scope"] = run.network.scope == workload::Scope::kModel ? "model" : "layer";
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
