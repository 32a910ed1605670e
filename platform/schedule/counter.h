// Traffic, work and L1 space of a schedule, counted from its command stream without simulation. Uses the models' own
// counts of each command; the sums equal the simulation's counters exactly.
#pragma once

#include <cstdint>
#include <vector>

#include "models/engine/mac_engine/mac_plan.h"
#include "models/engine/vec_engine/vec_plan.h"
#include "models/machine.h"
#include "models/memory/config.h"
#include "platform/schedule/bus.h"

namespace attnvp::schedule {

// Planners for the commands of a cluster's engines; `m` has the cluster's values (MachineConfig::with_cluster). One for
// each core, as tiles stay in an array between commands.
inline std::vector<MacPlanner> mac_planners(const MachineConfig& m) {
  std::vector<MacPlanner> planners;
  planners.reserve(m.cores);
  for (std::uint32_t k = 0; k < m.cores; ++k) planners.emplace_back(m.core(k).mac);
  return planners;
}
// One for each core, or one if cores are equal.
inline std::vector<VecPlanner> vec_planners(const MachineConfig& m) {
  std::vector<VecPlanner> planners;
  for (std::uint32_t k = 0; k < (m.has_equal_cores() ? 1 : m.cores); ++k) {
    const CoreConfig core = m.core(k);
    planners.emplace_back(core.vec, l0_share_bytes(core.l0.size_bytes));
  }
  return planners;
}

struct Traffic {  // bytes
  std::uint64_t read = 0, written = 0;
};

struct Counts {
  std::uint64_t commands = 0;  // of all queues, including those that only wait and signal
  Traffic dram, l2, l1, l0;
  std::uint64_t l1_peak_bytes = 0;  // of the cluster with the most
  MacWork mac;
  VecWork vec;
  std::uint64_t mac_cycles = 0, vec_cycles = 0;  // busy cycles of all units together
  std::uint64_t refused = 0;                     // commands that their engine refuses
  hal::Status status = hal::Status::kDone;       // of the first cluster that failed
};

Counts count(const Job& job, const MachineConfig& machine);

// Dry run of a schedule: the firmware allocates all buffers in an L1 of unlimited size (hal::kDryRun) without
// computing. Allocations and refusals are recorded.
struct Need {
  hal::JobResult result{};     // of the firmware, with an L1 of the size it needs
  std::uint64_t l1_bytes = 0;  // peak
  bool fits(const Job& job) const {
    return result.status == hal::Status::kDone && l1_bytes <= job.block.machine.l1_bytes;
  }
};
Need need_of(const Job& job);

// Whether `a` is closer to fitting: refused for less, then short of fewer bytes.
bool is_nearer(const Need& a, const Need& b);

// Answer of the firmware without computation. If L1 is too small for the buffers of all cores, it uses fewer cores.
hal::JobResult dry_answer_of(const Job& job);

// Answer of the firmware with all its commands; none is executed.
hal::JobResult answer_of(const Job& job);

// Number of commands of all clusters, copies counted by bursts; counting stops at `most`.
std::uint64_t count_steps(const Job& job, std::uint64_t burst_bytes, std::uint64_t most);

}  // namespace attnvp::schedule
