// What one descriptor needs of an engine, stage by stage: the streams over its L1 port, the cycles that its units need
// at least, the accesses to L0. Engines run by it, and readers of the command stream count by it.
#pragma once

#include <cstdint>

#include "models/bus/stream.h"
#include "models/engine/descriptor_check.h"

namespace attnvp {

struct Plan {
  Stream fill, body, last, drain;    // the first sub-tile's operands; all but the last sub-tile; the last; its result
  Stream l0;                         // working set and accesses, booked once
  std::uint64_t latency_cycles = 0;  // beyond the pipeline's, from the last operand to the last result
  bool after_previous = false;       // reads what the previous descriptor of this queue writes

  void clear() {
    for (Stream* stream : {&fill, &body, &last, &drain, &l0}) {
      stream->regions = 0;
      stream->pace_cycles = 0;
    }
    latency_cycles = 0;
    after_previous = false;
  }
};

}  // namespace attnvp
