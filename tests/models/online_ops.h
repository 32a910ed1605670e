// Descriptors of the one-pass softmax, dense unless a stride is given.
#pragma once

#include "models/arith/online.h"
#include "tests/models/bench.h"

namespace attnvp::bench {

inline hal::Descriptor online(hal::Opcode opcode, std::uint32_t rows, std::uint32_t columns, int flags,
                              std::initializer_list<hal::Operand> operands) {
  hal::Descriptor d{};
  d.opcode = opcode;
  d.flags = static_cast<std::uint8_t>(flags);
  d.dims[0] = rows;
  d.dims[1] = columns;
  d.dims[2] = 1;
  int i = 0;
  for (const hal::Operand& o : operands) d.operand[i++] = o;
  return d;
}

inline hal::Descriptor score(std::uint32_t m, std::uint32_t n, std::uint32_t k, std::uint16_t slot, std::uint64_t a,
                             std::uint64_t b, std::uint64_t maxima) {
  hal::Descriptor d =
      online(hal::Opcode::kScoreTile, m, n, hal::kTransposeB, {{a, 2 * k, 0}, {b, 2 * k, 0}, {maxima, 2, 0}});
  d.dims[2] = k;
  d.slot = slot;
  return d;
}

// n columns of V, k keys.
inline hal::Descriptor attend(std::uint32_t m, std::uint32_t n, std::uint32_t k, std::uint16_t slot,
                              std::uint64_t maxima, std::uint64_t v, std::uint64_t sums) {
  hal::Descriptor d =
      online(hal::Opcode::kAttendTile, m, n, 0, {{maxima, 2, 0}, {v, 2 * n, 0}, {sums, 4 * (n + 1), 0}});
  d.dims[2] = k;
  d.slot = slot;
  return d;
}

struct FaultCase {
  const char* name;
  FaultCode code;
  std::uint64_t address;
  hal::Descriptor descriptor;
};
inline void PrintTo(const FaultCase& c, std::ostream* out) { *out << c.name; }

// The engine of `queue` refuses it, and nobody hangs.
inline void expect_fault(const MachineConfig& machine, std::uint64_t queue, const std::vector<hal::Descriptor>& before,
                         const FaultCase& c) {
  Bench bench(machine);
  bench.run([&](Bench& b) {
    for (const hal::Descriptor& d : before) {
      EXPECT_TRUE(b.push(queue, then(d, 0)));
      EXPECT_TRUE(b.take(0));
    }
    EXPECT_TRUE(b.push(queue, then(c.descriptor, 0)));
    EXPECT_FALSE(b.take(0));
  });
  ASSERT_EQ(bench.faults().faults().size(), 1U);
  const Fault& fault = bench.faults().faults().front();
  EXPECT_EQ(fault.code, c.code) << to_sentence(fault);
  EXPECT_EQ(fault.address, c.address) << to_sentence(fault);
  EXPECT_FALSE(fault.detail.empty());
}

// FP16 between -4 and 4, and some special ones.
inline std::vector<arith::Half> some_halves(std::size_t n, std::uint32_t seed) {
  std::vector<arith::Half> out(n);
  for (arith::Half& h : out) {
    seed = seed * 1664525 + 1013904223;
    h = static_cast<arith::Half>((seed >> 16 & 0x83FF) | (0x3000 + (seed >> 8 & 5) * 0x400));
  }
  return out;
}

}  // namespace attnvp::bench
