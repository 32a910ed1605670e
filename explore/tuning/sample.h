// A smaller job of the same kind, for partial evaluations: fewer clusters with their share of the DRAM bandwidth, then
// fewer heads, then fewer query rows (of a product also fewer columns); of decoding fewer keys. Two sizes of it are
// run; what the larger one takes more is what more work of that kind takes, so that the time of the whole job is
// extrapolated:
//   T = T(large) + (W - W(large)) (T(large) - T(small)) / (W(large) - W(small)),  W: work, in units of the small job,
// and no less than 95% of T(large) W / W(large): what is not repeated is a small part of the larger one, or it was too
// small to tell.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>

#include "models/machine.h"
#include "platform/config/network.h"

namespace attnvp::explore {

struct Sample {
  MachineConfig machine;
  config::Network small, large;
  double work_small = 1, work_large = 2, work_all = 1;
  double extrapolated(double of_small, double of_large) const {
    return std::max(of_large + (work_all - work_large) * (of_large - of_small) / (work_large - work_small),
                    kRepeated * of_large * work_all / work_large);
  }
  // Cycles of the larger sample above which the whole job takes more than `limit`.
  double most_of_large(double limit) const { return limit * work_large / work_all / kRepeated; }

 private:
  static constexpr double kRepeated = 0.95;
};

// Steps (schedule::count_steps) that a job takes under some schedule, counted up to `most`.
using StepCount = std::function<std::uint64_t(const MachineConfig&, const config::Network&, std::uint64_t most)>;

// Bytes of a burst, each of which is a step of its own: of DMA, or of a DRAM with banks.
std::uint64_t burst_bytes(const MachineConfig& machine);

// Nothing where the job takes at most `steps`, or is of a kind that has no smaller one.
std::optional<Sample> sample_of(const MachineConfig& machine, const config::Network& network, std::uint64_t steps,
                                const StepCount& count);

}  // namespace attnvp::explore
