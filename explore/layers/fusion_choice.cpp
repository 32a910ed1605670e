#include "explore/layers/fusion_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "platform/machine/error.h"
#include "platform/schedule/counter.h"
#include "platform/schedule/programs.h"
#include "platform/workload/layer/fusion.h"

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

}  // namespace attnvp::explore
