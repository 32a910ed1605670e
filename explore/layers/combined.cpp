// A layer or model as one result: counts, cycles and energies of its operations, added up.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "explore/layers/layers.h"
#include "platform/machine/error.h"
#include "platform/run/golden/reference.h"

namespace attnvp::explore {

namespace {

// Weights that an operation has once, or its cache.
std::uint64_t kept(const workload::Workload& n) {
  const bool keeps = n.rows() == nullptr || n.rows()->opcode == hal::Opcode::kNorm;
  const job::TensorBytes bytes = job::tensor_bytes(n);
  if (n.gemm() != nullptr) {
    const job::FusedOperands fused = job::fused_operands_of(*n.gemm());
    return bytes.k + (fused.gamma + fused.beta + fused.bias) * sizeof(arith::Half);
  }
  return keeps ? bytes.k + bytes.v : 0;
}

// Weights of all its times, and vectors of a fused norm. A last projection with the table of tokens has weights of its
// own if their type is not the table's.
std::uint64_t weights(const workload::LayerOperation& o) {
  const workload::Gemm* const g = o.workload.gemm();
  if (g == nullptr) return o.parameters * sizeof(arith::Half);
  const std::uint64_t norms = g->fusion.norm == workload::Norm::kNone      ? 0
                              : g->fusion.norm == workload::Norm::kRmsNorm ? 1
                                                                           : 2;
  const std::uint64_t vectors = std::min(norms * g->depth, o.parameters);
  const std::uint64_t product = g->weights.any() ? std::max(o.parameters - vectors, o.active) : o.parameters - vectors;
  return vectors * sizeof(arith::Half) + product * job::tensor_bytes(o.workload).k / g->weight_elements();
}

}  // namespace

Capacity::Capacity(const std::vector<workload::LayerGroup>& groups, const workload::Workload& network)
    : network_(network) {
  for (const workload::LayerGroup& g : groups) {
    for (const workload::LayerOperation& o : g.operations) {
      need_.weights += g.count * weights(o);
      if (o.workload.is_attention()) need_.cache += g.count * kept(o.workload);
      const workload::Workload& n = o.workload;
      const job::TensorBytes bytes = job::tensor_bytes(n);
      const std::uint64_t result = n.is_attention() ? bytes.o : n.result_elements() * hal::element_bytes(n.out());
      add(o, bytes.q + bytes.k + bytes.v + result);
    }
  }
}

void Capacity::add(const workload::LayerOperation& o, std::uint64_t bytes) {
  need_.activations = std::max(need_.activations, bytes - kept(o.workload) + o.waiting * sizeof(arith::Half));
}

void Capacity::require(const MachineConfig& machine) const {
  const std::uint64_t need = need_.total();
  if (need <= machine.dram.size_bytes) return;
  const bool is_model = network_.scope == workload::Scope::kModel;
  const std::string what = is_model ? fmt::format("the tensors of {} layers", network_.model.layers)
                                    : fmt::format("the {}'s tensors", network_.graph != nullptr ? "graph" : "layer");
  throw config::ConfigError(
      fmt::format("{}: {} need at least {} bytes of DRAM ({} of weights, {} of K and V, {} of one operation's "
                  "activations), dram.size is {} bytes",
                  network_.name(), what, need, need_.weights, need_.cache, need_.activations, machine.dram.size_bytes));
}

namespace {

// Adds results, each several times.
class Sum {
 public:
  explicit Sum(const job::RunResult& first) : sum_(first) {
    sum_.cycles = 0;
    sum_.wall_seconds = 0;
    sum_.events = sum_.skipped_cycles = 0;
    sum_.golden = {};
    sum_.golden.passed = true;
    sum_.utilization = {};
    sum_.statistics.clear();
    sum_.workers.clear();
    sum_.counters.clear();
    sum_.unit_times.clear();
    sum_.bound = {};
    sum_.output.clear();
  }

  void add(const job::RunResult& r, std::uint64_t times) {
    const double cycles = static_cast<double>(times) * static_cast<double>(r.cycles);
    sum_.cycles += times * r.cycles;
    sum_.wall_seconds += r.wall_seconds;
    sum_.events += r.events;
    sum_.skipped_cycles += r.skipped_cycles;
    add_golden(r.golden);
    sum_.utilization.mac += cycles * r.utilization.mac;
    sum_.utilization.vec += cycles * r.utilization.vec;
    sum_.utilization.dma += cycles * r.utilization.dma;
    sum_.utilization.dram += cycles * r.utilization.dram;
    for (const job::CounterValue& c : r.counters) add_counter(c, times);
    for (const job::UnitTime& u : r.unit_times) add_times(u, times);
    for (const job::Demand& d : r.bound.demands) add_demand(d, static_cast<double>(times));
    sum_.bound.run_cycles += cycles;
  }

  void add_golden(const job::GoldenResult& g) {
    if (sum_.golden.passed && !g.passed) {
      const auto [error, ulp] = std::pair(sum_.golden.max_abs_error, sum_.golden.max_ulp_error);
      sum_.golden = g;
      sum_.golden.max_abs_error = std::max(error, g.max_abs_error);
      sum_.golden.max_ulp_error = std::max(ulp, g.max_ulp_error);
      return;
    }
    sum_.golden.max_abs_error = std::max(sum_.golden.max_abs_error, g.max_abs_error);
    sum_.golden.max_ulp_error = std::max(sum_.golden.max_ulp_error, g.max_ulp_error);
  }

  job::RunResult result() {
    const auto all = static_cast<double>(sum_.cycles);
    for (double* const share :
         {&sum_.utilization.mac, &sum_.utilization.vec, &sum_.utilization.dma, &sum_.utilization.dram}) {
      *share /= all;
    }
    std::vector<job::Demand>& demands = sum_.bound.demands;
    std::stable_sort(demands.begin(), demands.end(),
                     [](const job::Demand& a, const job::Demand& b) { return a.cycles > b.cycles; });
    if (!demands.empty()) sum_.bound.most = demands.front();
    return std::move(sum_);
  }

 private:
  void add_counter(const job::CounterValue& c, std::uint64_t times) {
    const auto [at, is_new] = counters_.emplace(std::pair(c.module, c.name), sum_.counters.size());
    if (is_new) {
      sum_.counters.push_back(c);
      job::CounterValue& own = sum_.counters.back();
      own.value = 0;
      own.energy_pj = own.low_pj = own.high_pj = 0;
    }
    job::CounterValue& own = sum_.counters[at->second];
    own.value = c.name.rfind("peak", 0) == 0 ? std::max(own.value, c.value) : own.value + times * c.value;
    own.energy_pj += static_cast<double>(times) * c.energy_pj;
    own.low_pj += static_cast<double>(times) * c.low_pj;
    own.high_pj += static_cast<double>(times) * c.high_pj;
  }

  void add_times(const job::UnitTime& u, std::uint64_t times) {
    const auto [at, is_new] = units_.emplace(u.unit, sum_.unit_times.size());
    if (is_new) sum_.unit_times.push_back({u.unit, u.kind, {}});
    auto& reasons = sum_.unit_times[at->second].cycles;
    for (const auto& [reason, cycles] : u.cycles) {
      const auto same = std::find_if(reasons.begin(), reasons.end(), [&](const auto& r) { return r.first == reason; });
      if (same == reasons.end()) {
        reasons.emplace_back(reason, times * cycles);
      } else {
        same->second += times * cycles;
      }
    }
  }

  void add_demand(const job::Demand& d, double times) {
    std::vector<job::Demand>& all = sum_.bound.demands;
    const auto same = std::find_if(all.begin(), all.end(), [&](const auto& o) { return o.resource == d.resource; });
    if (same == all.end()) {
      all.push_back({d.resource, times * d.cycles});
    } else {
      same->cycles += times * d.cycles;
    }
  }

  job::RunResult sum_;
  std::map<std::pair<std::string, std::string>, std::size_t> counters_;
  std::map<std::string, std::size_t> units_;
};

}  // namespace

job::RunResult combined(const LayerRun& run) {
  const OperationRun* attention = &run.layer().operations.front();  // a graph may have none
  for (const OperationRun& o : run.layer().operations) {
    if (o.result.network.is_attention()) attention = &o;
  }
  Sum sum(attention->result);
  for (const GroupRun& g : run.groups) {
    for (const OperationRun& o : g.operations) sum.add(o.result, std::uint64_t{g.count} * o.count);
    for (const job::ChainResult& c : g.chain) sum.add_golden(c.golden);
  }
  job::RunResult all = sum.result();
  all.network = run.network;
  all.network.model.layers = 1;  // they are in the sums
  all.golden_checked = run.golden_checked();
  return all;
}

}  // namespace attnvp::explore
