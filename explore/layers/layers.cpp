#include "explore/layers/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "explore/tuning/portfolio.h"
#include "models/mac_engine/mac_rate.h"
#include "platform/config/error.h"
#include "platform/config/operations.h"
#include "platform/config/step.h"
#include "platform/report/json.h"
#include "platform/report/power.h"
#include "platform/report/report.h"
#include "platform/report/table.h"

namespace attnvp::explore {

namespace {

constexpr std::uint64_t kMostDramBytes = std::uint64_t{16} << 40;  // that dram.size allows

template <typename Part>
auto sum_of(const LayerRun& run, const Part& part) {
  decltype(part(run.operations.front().result)) sum{};
  for (const OperationRun& o : run.operations) sum += part(o.result);
  return sum;
}

job::Schedule schedule_of(const MachineConfig& machine, const config::Network& n, const std::string& dataflow,
                          const config::EnergyTable& energy, const job::Tiling& tiling, const TuningOptions& options) {
  const schedule::FirmwareImage& firmware = schedule::firmware_of(machine);
  if (n.step != config::Step::kAttention) {
    return tune(machine, n, job::parse_dataflow(job::dataflows_for(n, firmware).front()->name, firmware), energy,
                options);
  }
  if (dataflow == "auto") return pick_dataflow(machine, n, tiling, energy, options).best().schedule;
  job::Schedule schedule = job::parse_dataflow(dataflow, firmware);
  schedule.tiling = tiling;
  return tune(machine, n, schedule, energy, options);
}

// What operations leave in DRAM for all of the run, and what one of them needs besides, in bytes.
class Capacity {
 public:
  Capacity(const config::Network& network, const std::vector<config::Operation>& operations)
      : network_(network), layers_(network.scope == config::Scope::kModel ? network.layers : 1) {
    for (const config::Operation& o : operations) {
      weights_ += o.network.step == config::Step::kAttention ? 0 : kept(o.network);
      cache_ += o.network.step == config::Step::kAttention ? kept(o.network) : 0;
    }
    hold_stream(operations);
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const config::Network& n = operations[i].network;
      const job::TensorBytes bytes = job::tensor_bytes(n);
      const std::uint64_t result =
          n.step == config::Step::kAttention ? bytes.o : n.visible_scores() * sizeof(arith::Half);
      add(i, n, bytes.q + bytes.k + bytes.v + result);
    }
  }

  // `bytes` of DRAM that operation i needs by itself.
  void add(std::size_t i, const config::Network& operation, std::uint64_t bytes) {
    activations_ = std::max(activations_, bytes - kept(operation) + stream_[i]);
  }

  void require(const MachineConfig& machine) const {
    const std::uint64_t need = layers_ * (weights_ + cache_) + activations_;
    if (need <= machine.dram.size_bytes) return;
    const std::string what = layers_ == 1 ? "the layer's tensors" : fmt::format("the tensors of {} layers", layers_);
    throw config::ConfigError(fmt::format(
        "{}: {} need at least {} bytes of DRAM ({} of weights, {} of K and V, {} of one operation's "
        "activations), dram.size is {} bytes",
        network_.name, what, need, layers_ * weights_, layers_ * cache_, activations_, machine.dram.size_bytes));
  }

 private:
  // Weights, or the cache.
  static std::uint64_t kept(const config::Network& n) {
    const bool keeps =
        n.step == config::Step::kAttention || n.step == config::Step::kGemm || n.step == config::Step::kNorm;
    const job::TensorBytes bytes = job::tensor_bytes(n);
    return keeps ? bytes.k + bytes.v : 0;
  }

  // What a residual sum adds is kept from the first operation that reads it on; that one has it as an operand, and so
  // has the sum.
  void hold_stream(const std::vector<config::Operation>& operations) {
    const std::uint64_t bytes = config::tokens_of(network_) * network_.hidden * sizeof(arith::Half);
    bool read = false;
    for (const config::Operation& o : operations) {
      const bool sum = o.network.step == config::Step::kElementwise;
      const bool behind = o.network.step == config::Step::kNorm && network_.norm_place == config::NormPlace::kPost;
      stream_.push_back(read && !sum && !network_.linear ? bytes : 0);
      read = !sum && !(behind && !read);
    }
  }

  const config::Network& network_;
  std::uint64_t layers_, weights_ = 0, cache_ = 0, activations_ = 0;
  std::vector<std::uint64_t> stream_;  // held during each operation
};

}  // namespace

std::uint64_t LayerRun::cycles() const {
  return sum_of(*this, [](const job::Result& r) { return r.cycles; });
}
double LayerRun::seconds() const {
  return sum_of(*this, [](const job::Result& r) { return r.seconds(); });
}
double LayerRun::energy_pj() const {
  return sum_of(*this, [](const job::Result& r) { return r.total_energy_pj(); });
}
std::uint64_t LayerRun::dram_bytes() const {
  return sum_of(*this,
                [](const job::Result& r) { return 2 * (r.sum("dram", "read_words") + r.sum("dram", "write_words")); });
}
std::uint64_t LayerRun::macs() const {
  return sum_of(*this, [](const job::Result& r) { return r.sum("mac", "macs"); });
}
double LayerRun::tokens_per_second() const { return static_cast<double>(tokens) / (layers * seconds()); }
bool LayerRun::golden_passed() const {
  return std::all_of(operations.begin(), operations.end(),
                     [](const OperationRun& o) { return !o.result.golden_checked || o.result.golden.passed; });
}

LayerRun run_layer(const MachineConfig& machine, const config::Network& network, const std::string& dataflow,
                   const config::EnergyTable& energy, const LayerOptions& options) {
  const std::vector<config::Operation> operations = config::operations_of(network);
  LayerRun run;
  run.network = network;
  run.mac_rate = mac_rate(machine.mac, network.type);
  run.tokens = config::tokens_of(network);
  run.layers = network.scope == config::Scope::kModel ? network.layers : 1;
  Capacity capacity(network, operations);
  capacity.require(machine);  // before a dataflow is chosen, which may take long
  std::vector<job::Schedule> schedules;
  MachineConfig boundless = machine;  // so that all of the need is known
  boundless.dram.size_bytes = kMostDramBytes;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const config::Network& n = operations[i].network;
    schedules.push_back(schedule_of(machine, n, dataflow, energy, options.tiling, options.tuning));
    if (n.step != config::Step::kAttention) continue;
    capacity.add(i, n, job::make_job(boundless, n, schedules.back()).scratch.address - hal::kDramBase);
  }
  capacity.require(machine);
  for (std::size_t i = 0; i < operations.size(); ++i) job::make_job(machine, operations[i].network, schedules[i]);
  job::Runner runner(machine, energy, options.full);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const config::Operation& o = operations[i];
    if (options.progress) options.progress(i, operations.size(), o.name);
    job::Tensors tensors;
    if (options.full) tensors = job::random_tensors(o.network, options.seed + i);
    run.operations.push_back({o.name, runner.run(o.network, schedules[i], options.full ? &tensors : nullptr, {})});
    run.operations.back().result.output.clear();
  }
  return run;
}

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
