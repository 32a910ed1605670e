// Row operations of the one-pass softmax on the VEC engine. Cycle counts by hand, from the doorbell on:
//   fill   the operands of the first sub-tile over the 64 B/cycle port: as many whole rows as the 256 lanes hold
//   elements
//          of, one row of kOnlineSoftmax (and all running maxima)
//   body   the longer of compute and of the traffic left but the last result
//   last   the last sub-tile computes
//   drain  16 cycles of pipeline, then the last sub-tile's result
// Compute: lane-cycles, 2 for a maximum, sum or product, 20 for an exponential, 6 for a quotient, over the lanes,
// rounded up.
#include <fmt/format.h>

#include <cstring>

#include "models/engine/vec_engine/vec_engine.h"
#include "tests/models/engine/online_ops.h"
#include "tests/models/engine/row_cycles.h"

namespace attnvp::bench {
namespace {

using hal::Opcode;

constexpr std::uint64_t kA = kL1, kB = kL1 + 0x20000, kC = kL1 + 0x40000, kD = kL1 + 0x60000;

hal::Descriptor max_op(std::uint32_t rows, int flags) {
  const std::uint32_t scales = (flags & hal::kTwoScales) != 0 ? 8 : 4;
  return online(Opcode::kOnlineMax, rows, 1, flags, {{kA, 2}, {kB, 2}, {kC, scales}, {kD, 2}});
}
hal::Descriptor softmax_op(std::uint32_t rows, std::uint32_t columns, int flags) {
  return online(Opcode::kOnlineSoftmax, rows, columns, flags, {{kA, 2 * columns}, {kB, 2 * columns}, {kC, 2}, {kD, 8}});
}
hal::Descriptor scale_add_op(std::uint32_t rows, std::uint32_t columns, int flags) {
  const std::uint32_t scales = (flags & hal::kTwoScales) != 0 ? 8 : 4;
  return online(Opcode::kScaleAdd, rows, columns, flags, {{kA, 4 * columns}, {kB, 4 * columns}, {kC, scales}});
}
hal::Descriptor divide_op(std::uint32_t rows, std::uint32_t columns) {
  return online(Opcode::kDivide, rows, columns, 0, {{kA, 4 * columns}, {kB, 2 * columns}, {kC, 4}});
}
hal::Descriptor rescale_op(std::uint32_t rows, std::uint32_t columns) {
  return online(Opcode::kRescale, rows, columns, 0, {{kA, 4 * columns}, {kB, 2}, {kC, 2}});
}

using Case = RowCycles;

class RowOpCycles : public testing::TestWithParam<Case> {};

TEST_P(RowOpCycles, AreTheHandCount) { expect_hand_count(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Shapes, RowOpCycles,
    testing::Values(
        // 256 rows and 44. 24 lane-cycles a row: 300 x 24 / 256 = 28.1, last 44 x 24 / 256 = 4.1, body 24. Fill 256 x 4
        // B = 16; body 44 x 4 in, 256 x (2 + 4) out: 1712 B = 26.75 > 24. Drain 264 B.
        Case{"Max", max_op(300, 0), kPush + 16 + 27 + 5 + 16 + 5},
        // One maximum a row of 2 bytes, which is the running one.
        Case{"MaxFirstUnscaled", max_op(10, hal::kFirst | hal::kUnscaled), kPush + 1 + 0 + 1 + 16 + 1},
        // Two differences, two exponentials: 46 x 100 / 256 = 17.97. Fill 400 B; drain 100 x (2 + 8) B = 15.6.
        Case{"MaxTwoScales", max_op(100, hal::kTwoScales), kPush + 7 + 0 + 18 + 16 + 16},
        // 26 lane-cycles an element, 6.5: 7 a row; 24 a row, all in 384 / 256: 2. 114 in all, last 8. Fill 128 B of S
        // and 16 x 2 of M; body (128 + 128 + 8) x 15 B = 61.9 < 106; drain 128 + 8 + 32 B.
        Case{"Softmax", softmax_op(16, 64, 0), kPush + 3 + 106 + 8 + 16 + 3},
        // M is not read, and written row by row.
        Case{"SoftmaxFirst", softmax_op(16, 64, hal::kFirst), kPush + 2 + 106 + 8 + 16 + 3},
        // Four times the lanes: 2 cycles a row and 1, body 30 < traffic 61.9.
        Case{"SoftmaxTraffic", softmax_op(16, 64, 0), kPush + 3 + 62 + 3 + 16 + 3, 1024},
        // Two rows of 128 + 128 + 2 + 8 bytes just fit VEC's half of L0 ...
        Case{"SoftmaxFitsL0", softmax_op(16, 64, 0), kPush + 3 + 62 + 3 + 16 + 3, 1024, 1064},
        // ... or not: S is read twice, (3 x 128 + 8) x 15 B = 91.9, and once more in the last row.
        Case{"SoftmaxTwiceFromL1", softmax_op(16, 64, 0), kPush + 3 + 92 + 3 + 16 + 3, 1024, 1062},
        // Sub-tiles of 3 rows: fill 3 x (260 + 260 + 4) B = 24.6; compute 4 x 260 / 256 = 4.06, last 260 / 256; body
        // 524 in, 780 out: 20.4 > 3; drain 260 B.
        Case{"ScaleAdd", scale_add_op(4, 65, 0), kPush + 25 + 21 + 2 + 16 + 5},
        // R is not read: fill 780 B = 12.2, body 260 in, 780 out = 16.25. As many lane-cycles.
        Case{"ScaleAddFirst", scale_add_op(4, 65, hal::kFirst), kPush + 13 + 17 + 2 + 16 + 5},
        // Fill 3 x 528 B = 24.75, body 528 + 780 = 20.4; last 390 / 256.
        Case{"ScaleAddTwo", scale_add_op(4, 65, hal::kTwoScales), kPush + 25 + 21 + 2 + 16 + 5},
        // Half the lane-cycles: last 130 / 256.
        Case{"ScaleAddUnscaled", scale_add_op(4, 65, hal::kUnscaled), kPush + 25 + 21 + 1 + 16 + 5},
        // Compute sets the pace, one row at a time: 4 x 260 / 8 = 130, last 32.5. Fill 524 B.
        Case{"ScaleAddFewLanes", scale_add_op(4, 65, 0), kPush + 9 + 97 + 33 + 16 + 5, 8},
        // The same with two scales: 6 x 65 lane-cycles a row, 195 in all, last 48.75. Fill 528 B = 8.25.
        Case{"ScaleAddTwoFewLanes", scale_add_op(4, 65, hal::kTwoScales), kPush + 9 + 146 + 49 + 16 + 5, 8},
        // Sub-tiles of 4 rows: fill 4 x 260 B = 16.25; body 260 in, 512 out = 12.1 > 6; last 384 / 256; drain 128 B.
        Case{"Divide", divide_op(5, 64), kPush + 17 + 13 + 2 + 16 + 2},
        // 5 x 384 / 8 = 240, last 48. Fill 260 B = 4.1.
        Case{"DivideFewLanes", divide_op(5, 64), kPush + 5 + 192 + 48 + 16 + 2, 8},
        // 130 lane-cycles and 22 for the scale: 4 rows 2.4, last 1. Fill 3 x 264 B = 12.4; body 264 + 780 B = 16.3;
        // drain 260 B.
        Case{"Rescale", rescale_op(4, 65), kPush + 13 + 17 + 1 + 16 + 5},
        // 4 x 152 / 8 = 76, last 19. Fill 264 B = 4.1.
        Case{"RescaleFewLanes", rescale_op(4, 65), kPush + 5 + 57 + 19 + 16 + 5, 8}),
    [](const auto& of) { return std::string(of.param.name); });

TEST(RowOps, AnExponentialUnitWorksBesideTheLanes) {
  // Softmax above: 20 of the 26 lane-cycles are the exponential's. 5 cycles a row, 20 x 16 / 256 for all rows: 2.
  MachineConfig m = machine();
  m.vec.exp_unit = true;
  Bench bench(m);
  EXPECT_EQ(cycles_of(bench, kVec, softmax_op(16, 64, 0)), kPush + 3 + 76 + 6 + 16 + 3);
}

TEST(RowOps, AReciprocalIsOneQuotientARow) {
  // DivideFewLanes above with a product for each element: a row takes 64 x 2 + 6 = 134 lane-cycles of 8 lanes. Five
  // take 83.75 cycles, the last 16.75.
  MachineConfig m = machine();
  m.vec.lanes = 8;
  m.vec.reciprocals = true;
  Bench bench(m);
  EXPECT_EQ(cycles_of(bench, kVec, divide_op(5, 64)), kPush + 5 + 67 + 17 + 16 + 2);
  EXPECT_EQ(bench.core().vec->value("div_ops"), 5U);
  EXPECT_EQ(bench.core().vec->value("mul_ops"), 320U);
}

TEST(RowOps, UpdatesOfRunningSumsTakeTheirLaneCycles) {
  // ScaleAddFewLanes: 65 x (4 + 4) = 520 lane-cycles a row, 260 cycles for four, the last 65. DivideFewLanes: 64 x 10,
  // 400 cycles for five, the last 80. Rescale is no update.
  MachineConfig m = machine();
  m.vec.lanes = 8;
  m.vec.update_lane_cycles = 4;
  for (const auto& [d, cycles] : {std::pair{scale_add_op(4, 65, 0), 9U + 195 + 65 + 16 + 5},
                                  {divide_op(5, 64), 5U + 320 + 80 + 16 + 2},
                                  {rescale_op(4, 65), 5U + 57 + 19 + 16 + 5}}) {
    Bench bench(m);
    EXPECT_EQ(cycles_of(bench, kVec, d), kPush + cycles);
  }
}

TEST(RowOps, InOrderWaitsForTheResultsBefore) {
  // Alone each takes what Rescale takes above. In order the second's fill begins when the first's result is in L1.
  const std::uint64_t alone = 13 + 17 + 1 + 16 + 5;
  for (const bool in_order : {false, true}) {
    Bench bench;
    const std::uint64_t cycles = bench.run([&](Bench& b) {
      hal::Descriptor second = rescale_op(4, 65);
      if (in_order) second.flags |= hal::kInOrder;
      b.push(kVec, rescale_op(4, 65));
      b.push(kVec, then(second, 0));
      b.take(0);
    });
    if (in_order) {
      EXPECT_EQ(cycles, kPush + 2 * alone);
    } else {
      EXPECT_LT(cycles, kPush + 2 * alone);
    }
  }
}

TEST(RowOps, CountOperations) {
  struct Count {
    hal::Descriptor d;
    std::uint64_t max, add, mul, exp, div;
  };
  for (const Count& c : {Count{max_op(300, 0), 300, 300, 0, 300, 0},
                         {max_op(300, hal::kTwoScales), 300, 600, 0, 600, 0},
                         {max_op(300, hal::kUnscaled), 300, 0, 0, 0, 0},
                         {softmax_op(5, 77, 0), 5 * 78, 5 * (2 * 77 + 1), 0, 5 * 78, 0},
                         {scale_add_op(4, 65, 0), 0, 260, 260, 0, 0},
                         {scale_add_op(4, 65, hal::kTwoScales), 0, 260, 520, 0, 0},
                         {scale_add_op(4, 65, hal::kUnscaled), 0, 260, 0, 0, 0},
                         {divide_op(5, 64), 0, 0, 0, 0, 320},
                         {rescale_op(4, 65), 0, 4, 260, 4, 0}}) {
    Bench bench;
    cycles_of(bench, kVec, c.d);
    const auto& vec = dynamic_cast<const VecEngine&>(*bench.core().vec);
    EXPECT_EQ(vec.max_ops.value(), c.max);
    EXPECT_EQ(vec.add_ops.value(), c.add);
    EXPECT_EQ(vec.mul_ops.value(), c.mul);
    EXPECT_EQ(vec.exp_ops.value(), c.exp);
    EXPECT_EQ(vec.div_ops.value(), c.div);
    EXPECT_EQ(vec.lane_ops.value(), 0U);
  }
}

// A row of sums between others, and the values that arith gives; what lies between rows stays as it was.
TEST(RowOps, SoftmaxAndScaleAddAreArith) {
  const std::uint32_t rows = 6, columns = 37, stride = 40, emb = 9;
  for (const bool first : {true, false}) {
    const std::vector<arith::Half> s = some_halves(rows * stride, 1), before = some_halves(rows * 4, 2);
    std::vector<float> sums(rows * (emb + 3)), tile(rows * (emb + 3));
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] = 0.25F * static_cast<float>(i % 17) - 1;
      tile[i] = 0.125F * static_cast<float>(i % 13);
    }
    hal::Descriptor soft = online(Opcode::kOnlineSoftmax, rows, columns, first ? hal::kFirst : 0,
                                  {{kA, 2 * stride}, {kA, 2 * stride}, {kB, 8}, {kD + 4 * emb, 4 * (emb + 3)}});
    hal::Descriptor add = online(Opcode::kScaleAdd, rows, emb + 1, first ? hal::kFirst : 0,
                                 {{kC, 4 * (emb + 3)}, {kD, 4 * (emb + 3)}, {kD + 4 * (emb + 1), 4 * (emb + 3)}});
    Bench bench;
    bench.run([&](Bench& b) {
      b.set_l1(kA, s);
      b.set_l1(kB, before);
      b.set_l1(kC, sums);
      b.set_l1(kD, tile);
      b.push(kVec, soft);
      add.flags |= hal::kInOrder;
      b.push(kVec, then(add, 0));
      b.take(0);
    });
    std::vector<arith::Half> p = s, maxima = before;
    std::vector<float> expected = sums;
    for (std::uint32_t r = 0; r < rows; ++r) {
      const arith::Half m = arith::row_max(&s[r * stride], columns);
      const arith::Half now = first ? m : arith::running_max(before[r * 4], m);
      maxima[r * 4] = now;
      float* const t = &tile[r * (emb + 3)];
      t[emb] = arith::exp_row(&s[r * stride], &p[r * stride], columns, now);
      t[emb + 1] = first ? 0 : arith::exp_scale(before[r * 4], now);
      for (std::uint32_t e = 0; e <= emb; ++e) {
        float& x = expected[r * (emb + 3) + e];
        x = first ? t[e] : x * t[emb + 1] + t[e];
      }
    }
    EXPECT_EQ(bench.l1<arith::Half>(kA, s.size()), p);
    EXPECT_EQ(bench.l1<arith::Half>(kB, before.size()), maxima);
    EXPECT_EQ(bench.l1<float>(kD, tile.size()), tile);
    EXPECT_EQ(bench.l1<float>(kC, sums.size()), expected);
  }
}

// Rescaling on the side and adding unscaled gives the very bits of scale-and-add.
TEST(RowOps, RescaleThenAddIsScaleAdd) {
  const std::uint32_t rows = 7, columns = 10;
  const std::vector<arith::Half> m = some_halves(rows, 3), before = some_halves(rows, 4);
  std::vector<float> sums(rows * columns), tile(rows * columns);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i] = 0.3F * static_cast<float>(i % 17) - 1;
    tile[i] = 0.7F * static_cast<float>(i % 13);
  }
  const auto run = [&](bool apart) {
    Bench bench;
    bench.run([&](Bench& b) {
      b.set_l1(kA, m);
      b.set_l1(kA + 0x1000, before);
      b.set_l1(kC, sums);
      b.set_l1(kD, tile);
      const int flags = apart ? hal::kUnscaled : 0;
      b.push(kVec, online(Opcode::kOnlineMax, rows, 1, flags, {{kA, 2}, {kA + 0x1000, 2}, {kB, 4}, {kA + 0x2000, 2}}));
      if (apart) {
        b.push(kVec, online(Opcode::kRescale, rows, columns, hal::kInOrder,
                            {{kC, 4 * columns}, {kA + 0x1000, 2}, {kA + 0x2000, 2}}));
      }
      b.push(kVec, then(online(Opcode::kScaleAdd, rows, columns, flags | hal::kInOrder,
                               {{kC, 4 * columns}, {kD, 4 * columns}, {kB, 4}}),
                        0));
      b.take(0);
    });
    EXPECT_EQ(bench.l1<arith::Half>(kA + 0x2000, 1)[0], arith::running_max(before[0], m[0]));
    return bench.l1<float>(kC, sums.size());
  };
  const std::vector<float> together = run(false);
  EXPECT_EQ(together, run(true));
  for (std::uint32_t r = 0; r < rows; ++r) {
    const float scale = arith::exp_scale(before[r], arith::running_max(before[r], m[r]));
    for (std::uint32_t c = 0; c < columns; ++c) {
      const std::size_t i = r * columns + c;
      EXPECT_EQ(together[i], sums[i] * scale + tile[i]) << r << " " << c;
    }
  }
}

// Two partial results of a row become one: both scales, then the quotient.
TEST(RowOps, MergeAndDivide) {
  const std::uint32_t rows = 5, columns = 6;
  const std::vector<arith::Half> m = some_halves(rows, 5), before = some_halves(rows, 6);
  std::vector<float> mine(rows * columns), other(rows * columns);
  for (std::size_t i = 0; i < mine.size(); ++i) {
    mine[i] = 1 + 0.3F * static_cast<float>(i % 17);
    other[i] = 2 + 0.7F * static_cast<float>(i % 13);
  }
  Bench bench;
  bench.run([&](Bench& b) {
    b.set_l1(kA, m);
    b.set_l1(kA + 0x1000, before);
    b.set_l1(kC, mine);
    b.set_l1(kD, other);
    b.push(kVec, online(Opcode::kOnlineMax, rows, 1, hal::kTwoScales,
                        {{kA, 2}, {kA + 0x1000, 2}, {kB, 8}, {kA + 0x1000, 2}}));  // M in place
    b.push(kVec, online(Opcode::kScaleAdd, rows, columns, hal::kTwoScales | hal::kInOrder,
                        {{kC, 4 * columns}, {kD, 4 * columns}, {kB, 8}}));
    b.push(kVec, then(online(Opcode::kDivide, rows, columns - 1, hal::kInOrder,
                             {{kC, 4 * columns}, {kB + 0x1000, 2 * columns}, {kC + 4 * (columns - 1), 4 * columns}}),
                      0));
    b.take(0);
  });
  const auto o = bench.l1<arith::Half>(kB + 0x1000, rows * columns);
  for (std::uint32_t r = 0; r < rows; ++r) {
    const arith::Half now = arith::running_max(before[r], m[r]);
    const float a = arith::exp_scale(before[r], now), z = arith::exp_scale(m[r], now);
    std::vector<float> x(columns);
    for (std::uint32_t c = 0; c < columns; ++c) x[c] = mine[r * columns + c] * a + other[r * columns + c] * z;
    for (std::uint32_t c = 0; c + 1 < columns; ++c) {
      EXPECT_EQ(o[r * columns + c], arith::half_from_float(x[c] / x[columns - 1]));
    }
    EXPECT_EQ(bench.l1<arith::Half>(kA + 0x1000 + 2 * r, 1)[0], now);
  }
}

hal::Descriptor at(hal::Descriptor d, int operand, std::uint64_t address) {
  d.operand[operand].address = address;
  return d;
}
hal::Descriptor stride(hal::Descriptor d, int operand, std::uint32_t bytes) {
  d.operand[operand].row_stride = bytes;
  return d;
}

class RowOpFault : public testing::TestWithParam<FaultCase> {};
TEST_P(RowOpFault, IsReported) { expect_fault(machine(), kVec, {}, GetParam()); }

const std::uint64_t kEnd = kL1 + machine().l1.size_bytes;
using F = FaultCode;
INSTANTIATE_TEST_SUITE_P(
    Cases, RowOpFault,
    testing::Values(FaultCase{"MaxNoRows", F::kZeroSize, kA, max_op(0, 0)},
                    FaultCase{"SoftmaxNoColumns", F::kZeroSize, kA, softmax_op(4, 0, 0)},
                    FaultCase{"ScaleAddNoColumns", F::kZeroSize, kA, scale_add_op(4, 0, 0)},
                    FaultCase{"MaxScaleAtHalfAWord", F::kMisaligned, kC + 2, at(max_op(8, 0), 2, kC + 2)},
                    FaultCase{"SoftmaxSumsStride", F::kMisaligned, kD, stride(softmax_op(4, 16, 0), 3, 10)},
                    FaultCase{"ScaleAddSumsAtHalfAWord", F::kMisaligned, kA + 2, at(scale_add_op(4, 8, 0), 0, kA + 2)},
                    FaultCase{"DivideByHalfAWord", F::kMisaligned, kC + 2, at(divide_op(4, 8), 2, kC + 2)},
                    FaultCase{"RescaleStride", F::kMisaligned, kA, stride(rescale_op(4, 8), 0, 34)},
                    FaultCase{"MaxOddAddress", F::kMisaligned, kA + 1, at(max_op(8, 0), 0, kA + 1)},
                    FaultCase{"MaxOverScales", F::kOverlap, kC, at(max_op(8, 0), 3, kC + 2)},
                    FaultCase{"SoftmaxShifted", F::kOverlap, kA + 2, at(softmax_op(4, 16, 0), 1, kA + 2)},
                    FaultCase{"SoftmaxSumsOverScores", F::kOverlap, kA + 64, at(softmax_op(4, 16, 0), 3, kA + 64)},
                    FaultCase{"ScaleAddShifted", F::kOverlap, kA + 4, at(scale_add_op(4, 8, 0), 1, kA + 4)},
                    FaultCase{"DivideOverItsSums", F::kOverlap, kA, at(divide_op(4, 8), 1, kA)},
                    FaultCase{"RescaleOverMaxima", F::kOverlap, kA + 8, at(rescale_op(4, 8), 1, kA + 8)},
                    FaultCase{"SoftmaxRowTooLong", F::kBadOperand, kA, softmax_op(1, (1U << 23) + 1, 0)},
                    FaultCase{"ScaleAddStrideShorterThanARow", F::kBadOperand, kB,
                              stride(scale_add_op(4, 8, 0), 1, 28)},
                    FaultCase{"DividePastL1", F::kOutOfRange, kEnd - 16, at(divide_op(4, 8), 1, kEnd - 16)},
                    FaultCase{"RescaleUnmapped", F::kUnmapped, 0x4000, at(rescale_op(4, 8), 2, 0x4000)}),
    [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace attnvp::bench
