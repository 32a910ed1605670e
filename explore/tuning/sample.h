// Low-fidelity evaluation by a smaller job of the same kind. It has fewer clusters with their share of the DRAM
// bandwidth, then fewer heads, then fewer query rows (products: also fewer columns, or less depth behind a cache;
// decoding: fewer keys). Two sizes are run, and the time of the whole job is extrapolated:
//   T = T(large) + (W - W(large)) (T(large) - T(small)) / (W(large) - W(small)),  W: work, in units of the small job.
// The result is at least 95% of T(large) W / W(large) (with less depth 50%), because the part that is not repeated is
// assumed to be small.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>

#include "models/machine.h"
#include "platform/workload/workload.h"

namespace attnvp::explore {

struct Sample {
  MachineConfig machine, machine_of_small;
  workload::Workload small, large;
  double work_small = 1, work_large = 2, work_all = 1;
  double repeated = 0.95;         // least share of the larger sample's time that repeats with the work
  bool has_two_machines = false;  // machine_of_small differs
  double extrapolated(double of_small, double of_large) const {
    return std::max(of_large + (work_all - work_large) * (of_large - of_small) / (work_large - work_small),
                    repeated * of_large * work_all / work_large);
  }
  // Cycles of the larger sample above which the estimate for the whole job exceeds `limit`.
  double most_of_large(double limit) const { return limit * work_large / work_all / repeated; }
};

// Events (schedule::count_steps) of a job under some schedule.
using StepCount = std::function<std::uint64_t(const MachineConfig&, const workload::Workload&)>;

// Burst size in bytes, of DMA or of a DRAM with banks. Each burst is an event.
std::uint64_t burst_bytes(const MachineConfig& machine);

// Empty if the job has at most `steps` events, or if its kind has no smaller job.
std::optional<Sample> sample_of(const MachineConfig& machine, const workload::Workload& network, std::uint64_t steps,
                                const StepCount& count);

}  // namespace attnvp::explore
