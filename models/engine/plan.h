// Needs of one descriptor in each stage of an engine: streams over the L1 port, minimum cycles of the units, accesses
// to L0. Engines execute the plan; readers of a schedule (platform/schedule) count with it.
#pragma once

#include <cstdint>

#include "models/engine/descriptor_check.h"
#include "models/interconnect/bus/stream.h"

namespace attnvp {

inline std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

// Rows of operand `i` in L1.
inline Region rows_of(const hal::Descriptor& d, int i, std::uint64_t rows, bool write = false) {
  return {d.operand[i].address, rows, d.row_bytes(i), d.operand[i].row_stride, 0, write};
}
// The part of a region's traffic that a stage moves.
inline Region part(Region region, std::uint64_t bytes) {
  region.traffic_bytes = bytes;
  return region;
}
inline bool is_in_words(const Region& region) {  // of 4 bytes: addresses of all rows
  return ((region.address | (region.rows > 1 ? region.row_stride : 0)) & 3) == 0;
}

struct Plan {
  Stream fill, body, last, drain;    // first operands; all but the last sub-tile; the last one; its result
  Stream l0;                         // working set and accesses, counted once
  std::uint64_t latency_cycles = 0;  // from the last operand to the last result, beyond the pipeline's own
  bool after_previous = false;       // reads what the previous descriptor of this queue writes

  // Counts reads and writes of L0 by a descriptor that needs `working_set` bytes.
  void use_l0(std::uint64_t working_set, std::uint64_t read_bytes, std::uint64_t written_bytes) {
    l0.add({0, 1, working_set, 0, read_bytes, false});
    l0.add({0, 1, working_set, 0, written_bytes, true});
  }
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
