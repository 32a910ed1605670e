// Needs of one descriptor in each stage of an engine: streams over the L1 port, minimum cycles of the units, accesses
// to L0. Engines execute the plan; readers of a schedule (platform/schedule) count with it.
#pragma once

#include <cstdint>

#include "models/engine/descriptor_check.h"
#include "models/interconnect/bus/stream.h"

namespace attnvp {

inline std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

struct Plan {
  Stream fill, body, last, drain;    // first operands; all but the last sub-tile; the last one; its result
  Stream l0;                         // working set and accesses, counted once
  std::uint64_t latency_cycles = 0;  // from the last operand to the last result, beyond the pipeline's own
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
