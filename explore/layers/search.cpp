#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <utility>

#include "explore/layers/layers.h"
#include "platform/machine/error.h"
#include "platform/schedule/counter.h"
#include "platform/schedule/programs.h"
#include "platform/workload/layer/layer.h"

namespace attnvp::explore {

namespace {

using Operations = std::vector<const workload::LayerOperation*>;

// Whether the L1s of all clusters together hold the rows between two products, if there are two, so that a cluster
// reads each weight once. Several clusters must have rows for all PEs.
bool are_held(const MachineConfig& m, const Operations& together) {
  const workload::Gemm* const product = together.front()->workload.gemm();
  if (product == nullptr || product->fusion.down == 0) return true;
  const workload::Gemm& g = *product;
  const std::uint64_t cores = std::uint64_t{m.clusters} * m.cores;
  if (m.clusters > 1 && g.rows < cores * m.mac.rows) return false;
  const auto rows = static_cast<std::uint32_t>((g.rows + cores - 1) / cores);
  const schedule::FirmwareImage& firmware = schedule::firmware_of(m);
  job::Schedule schedule = job::parse_dataflow(job::dataflows_for(g, firmware).front()->name, firmware);
  const std::uint32_t tile = 2 * m.mac.columns;
  schedule.tiling = job::parse_tiling(
      fmt::format("nq={},nkv={},kd={},kv=2,m0=1,n0=1,k0=1", rows, std::min(tile, g.columns), std::min(tile, g.depth)),
      firmware);
  const schedule::Job job = job::make_job(m, g, schedule);
  return schedule::need_of(job).fits(job);
}

}  // namespace

const std::optional<FusionTimer::Timed>& FusionTimer::timed(const workload::Workload& operation) {
  const auto [known, is_new] = timed_.try_emplace(operation.identity());
  if (!is_new) return known->second;
  try {
    job::Schedule schedule =
        explore::schedule_of(machine_, operation, dataflow_, energy_, options_.tiling, options_.tuning);
    if (!runner_) runner_.emplace(machine_, energy_, false);
    const std::uint64_t cycles = runner_->run(operation, schedule, nullptr, {}).cycles;
    known->second = Timed{std::move(schedule), cycles};
  } catch (const job::RunError&) {
    runner_.reset();
  }
  return known->second;
}

void FusionTimer::choose(std::vector<workload::LayerGroup>& groups) {
  // None if one of them has no space.
  const auto cycles_of = [this](const Operations& operations) {
    std::optional<std::uint64_t> cycles = 0;
    for (const workload::LayerOperation* o : operations) {
      const std::optional<Timed>& one = timed(o->workload);
      if (!one) return std::optional<std::uint64_t>();
      *cycles += one->cycles;
    }
    return cycles;
  };
  const workload::FusionChoice is_fast = [&](const Operations& apart, const Operations& together) {
    if (!are_held(machine_, together)) return false;
    const std::optional<std::uint64_t> fused = cycles_of(together);
    if (!fused) return false;
    const std::optional<std::uint64_t> other = cycles_of(apart);
    return !other || *fused <= *other;
  };
  for (workload::LayerGroup& g : groups) g.operations = workload::fused(std::move(g.operations), is_fast);
}

void FusionTimer::fuse_held(std::vector<workload::LayerGroup>& groups) const {
  const workload::FusionChoice held = [this](const auto& /*apart*/, const auto& together) {
    return are_held(machine_, together);
  };
  for (workload::LayerGroup& g : groups) g.operations = workload::fused(std::move(g.operations), held);
}

const job::Schedule* FusionTimer::schedule_of(const std::string& identity) const {
  const auto known = timed_.find(identity);
  return known == timed_.end() || !known->second ? nullptr : &known->second->schedule;
}

namespace {

job::Schedule dataflow_of(const MachineConfig& machine, const workload::Workload& w, const std::string& dataflow) {
  const schedule::FirmwareImage& firmware = schedule::firmware_of(machine);
  return job::parse_dataflow(w.is_attention() ? dataflow : job::dataflows_for(w, firmware).front()->name, firmware);
}

// Distinct operations, by what results depend on.
std::map<std::string, TuningResult> distinct_of(const std::vector<workload::LayerGroup>& groups) {
  std::map<std::string, TuningResult> all;
  for (const workload::LayerGroup& g : groups) {
    for (const workload::LayerOperation& o : g.operations) all[o.workload.identity()];
  }
  return all;
}

void add_up(LayerSearch& all, Objective objective, double clock_hz) {
  double cycles = 0, energy_pj = 0, bound = 0;
  bool has_bounds = true;
  for (const OperationSearch& o : all.operations) {
    const auto times = static_cast<double>(o.times);
    cycles += times * o.result.best.cycles;
    energy_pj += times * o.result.best.energy_pj;
    bound += times * o.result.bound;
    has_bounds = has_bounds && o.result.bound > 0;
  }
  all.best = cost_of(objective, cycles, energy_pj, clock_hz).first;
  all.bound = has_bounds ? bound : 0;
}

}  // namespace

LayerSearch search_layers(const MachineConfig& machine, const workload::Workload& network, const std::string& dataflow,
                          const config::EnergyTable& energy, const LayerSearchOptions& options) {
  const std::vector<workload::LayerGroup> groups = workload::groups_of(network);
  std::map<std::string, TuningResult> found = distinct_of(groups);
  const auto start = std::chrono::steady_clock::now();
  LayerSearch all;
  std::size_t done = 0;
  for (const workload::LayerGroup& g : groups) {
    for (const workload::LayerOperation& o : g.operations) {
      const job::Schedule schedule = dataflow_of(machine, o.workload, dataflow);
      TuningResult& result = found.at(o.workload.identity());
      if (result.log.empty()) {
        ++done;
        const double limit = options.seconds * static_cast<double>(done) / static_cast<double>(found.size());
        TuningOptions tuning = options.tuning;
        bool has_any = false;
        tuning.progress = [&](const TuningProgress& now) {
          has_any = now.least_cost < kNoLimit;
          if (options.progress) options.progress(o.name, now);
        };
        tuning.is_stopped = [&] {
          const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
          return has_any && (options.is_stopped() || (options.seconds > 0 && taken.count() > limit));
        };
        result = search({machine, o.workload.folded(), schedule, energy}, tuning);
      }
      all.operations.push_back({g.name, o.name, schedule, std::uint64_t{g.count} * o.count, result});
    }
  }
  add_up(all, options.tuning.objective, machine.clock_hz);
  return all;
}

}  // namespace attnvp::explore
