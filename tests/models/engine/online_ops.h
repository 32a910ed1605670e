// Descriptors of the one-pass softmax, dense unless a stride is given.
#pragma once

#include <map>

#include "models/arith/online.h"
#include "tests/models/bench.h"

namespace attnvp::bench {

struct OperandRange {
  std::uint64_t address;
  std::uint32_t row_stride;
};
inline hal::Descriptor online(hal::Opcode opcode, std::uint32_t rows, std::uint32_t columns, int flags,
                              const std::vector<OperandRange>& operands) {
  hal::Descriptor d{};
  d.opcode = opcode;
  d.flags = static_cast<std::uint16_t>(flags);
  d.rows = rows;
  constexpr auto kHalf = hal::ElementType::kFp16, kFloat = hal::ElementType::kFp32;
  const std::uint32_t scales = (flags & hal::kTwoScales) != 0 ? 2 : 1;
  struct Form {
    hal::ElementType type;
    std::uint32_t columns;
  };
  const std::map<hal::Opcode, std::vector<Form>> forms{
      {hal::Opcode::kOnlineMax, {{kHalf, 1}, {kHalf, 1}, {kFloat, scales}, {kHalf, 1}}},
      {hal::Opcode::kOnlineSoftmax, {{kHalf, columns}, {kHalf, columns}, {kHalf, 1}, {kFloat, 2}}},
      {hal::Opcode::kScaleAdd, {{kFloat, columns}, {kFloat, columns}, {kFloat, scales}}},
      {hal::Opcode::kDivide, {{kFloat, columns}, {kHalf, columns}, {kFloat, 1}}},
      {hal::Opcode::kRescale, {{kFloat, columns}, {kHalf, 1}, {kHalf, 1}}}};
  int i = 0;
  for (const OperandRange& o : operands) {
    const Form form = forms.at(opcode)[static_cast<std::size_t>(i)];
    d.type[i] = form.type;
    d.operand[i++] = {o.address, o.row_stride, form.columns};
  }
  return d;
}

inline hal::Descriptor score(std::uint32_t m, std::uint32_t n, std::uint32_t k, std::uint16_t slot, std::uint64_t a,
                             std::uint64_t b, std::uint64_t maxima) {
  hal::Descriptor d{};
  d.opcode = hal::Opcode::kScoreTile;
  d.flags = hal::kTransposeB;
  d.rows = m;
  d.operand[0] = {a, 2 * k, k};
  d.operand[1] = {b, 2 * k, k};
  d.operand[2] = {maxima, 2, 1};
  for (int i = 0; i < 3; ++i) d.type[i] = hal::ElementType::kFp16;
  d.tail.tile = {n, slot};
  return d;
}

// n columns of V, k keys.
inline hal::Descriptor attend(std::uint32_t m, std::uint32_t n, std::uint32_t k, std::uint16_t slot,
                              std::uint64_t maxima, std::uint64_t v, std::uint64_t sums) {
  hal::Descriptor d{};
  d.opcode = hal::Opcode::kAttendTile;
  d.rows = m;
  d.operand[0] = {maxima, 2, 1};
  d.operand[1] = {v, 2 * n, n};
  d.operand[2] = {sums, 4 * (n + 1), n + 1};
  d.type[0] = d.type[1] = hal::ElementType::kFp16;
  d.type[2] = hal::ElementType::kFp32;
  d.tail.tile = {k, slot};
  return d;
}

struct FaultCase {
  const char* name;
  FaultCode code;
  std::uint64_t address;
  hal::Descriptor descriptor;
};
inline void PrintTo(const FaultCase& c, std::ostream* out) { *out << c.name; }

// Expects that the engine of `queue` refuses it, without deadlock.
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

// FP16 between -4 and 4, and some special values.
inline std::vector<arith::Half> some_halves(std::size_t n, std::uint32_t seed) {
  std::vector<arith::Half> out(n);
  for (arith::Half& h : out) {
    seed = seed * 1664525 + 1013904223;
    h = static_cast<arith::Half>((seed >> 16 & 0x83FF) | (0x3000 + (seed >> 8 & 5) * 0x400));
  }
  return out;
}

}  // namespace attnvp::bench
