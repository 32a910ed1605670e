// What a schedule needs, found without doing its work: the firmware makes all of its buffers against an L1 of any size
// (hal::kDryRun), and what it allocates and refuses is recorded.
#pragma once

#include <cstdint>

#include "platform/schedule/bus.h"

namespace attnvp::schedule {

struct Need {
  hal::JobResult result{};     // of the firmware, with an L1 as large as it asks for
  std::uint64_t l1_bytes = 0;  // peak
  bool fits(const Job& job) const {
    return result.status == hal::Status::kDone && l1_bytes <= job.block.machine.l1_bytes;
  }
};
Need need_of(const Job& job);

// Closer to fitting: refused for less, then short of fewer bytes.
bool is_nearer(const Need& a, const Need& b);

// What the firmware answers without doing the work. Where L1 is too small for the buffers of all cores, it uses fewer.
hal::JobResult dry_answer_of(const Job& job);

// What the firmware answers when it does the work, too; no command is executed.
hal::JobResult answer_of(const Job& job);

// What a run has to do: commands of all clusters, copies by their bursts; counting ends at `most`.
std::uint64_t count_steps(const Job& job, std::uint64_t burst_bytes, std::uint64_t most);

}  // namespace attnvp::schedule
