// How long a schedule takes, from its own command stream (replay.h). A layer whose stream is long is judged by two
// smaller ones of its kind: fewer heads, then fewer query rows; what one more of them adds, all the others add.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mapping/bus.h"
#include "mapping/dry_run.h"
#include "mapping/replays.h"

namespace attnvp::mapping {

struct Estimate {
  double cycles = 0;         // infinite where firmware refuses the schedule or it would never end
  double bus = 0;            // cycles of the DRAM bus that all copies take
  double commands = 0;       // of the cluster that has most
  double all_commands = 0;   // of all clusters
  double l1 = 0;             // cycles of a port of its L1 that all of them take
  bool whole = false;        // all of it was looked at: by more commands it is the same
  std::uint64_t digest = 0;  // of the first cluster's stream, as far as it was looked at (recording.h)
};
// `most`: commands that are looked at. Where it turns out to take `enough` cycles or more, it is looked at no further,
// and no less than that is said.
Estimate estimate(const Job& job, Replays& replays, std::size_t most, double enough = kNever);

}  // namespace attnvp::mapping
