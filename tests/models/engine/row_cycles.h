// Cycles of one command on the VEC engine, compared with a count by hand.
#pragma once

#include <ostream>

#include "tests/models/bench.h"

namespace attnvp::bench {

struct RowCycles {
  const char* name;
  hal::Descriptor descriptor;
  std::uint64_t cycles;
  std::uint32_t lanes = 256;
  std::uint64_t l0_bytes = 64 << 10;
};
inline void PrintTo(const RowCycles& c, std::ostream* out) { *out << c.name; }

// With and without data.
inline void expect_hand_count(const RowCycles& c) {
  for (const bool full_data : {true, false}) {
    MachineConfig m = machine();
    m.vec.lanes = c.lanes;
    m.l0.size_bytes = c.l0_bytes;
    Bench bench(m, full_data);
    EXPECT_EQ(cycles_of(bench, kVec, c.descriptor), c.cycles);
  }
}

}  // namespace attnvp::bench
