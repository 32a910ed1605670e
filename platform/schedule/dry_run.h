// Dry run of a schedule: the firmware allocates all buffers in an L1 of unlimited size (hal::kDryRun) without
// computing. Allocations and refusals are recorded.
#pragma once

#include <cstdint>

#include "platform/schedule/bus.h"

namespace attnvp::schedule {

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
