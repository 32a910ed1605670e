// The VEC engine with its datapath in RTL, on the bench. Cycles: behind the model's by a row's way through the unit.
#include "models/arith/softmax.h"
#include "rtl/vec/rtl_vec_engine.h"
#include "tests/models/bench.h"

namespace attnvp::bench {
namespace {

constexpr std::uint64_t kIn = kL1, kOut = kL1 + 0x80000;

MachineConfig rtl_machine(bool rtl = true) {
  MachineConfig m = machine();
  m.vec.kind = rtl ? VecKind::kRtl : VecKind::kModel;
  return m;
}

// The model: 16 cycles from a row's last operand to its result. The RTL's pipeline is longer: with b beats a row, 1
// cycle to take what was asked and 1 to know the row's maximum before the first beat is read, then, behind the last
// one, 5 to the sum, 18 to the reciprocal, 1 buffer, b beats of output, 2 of product and rounding, 1 buffer.
TEST(RtlVecEngine, CyclesAreTheHandCount) {
  struct Case {
    std::uint32_t rows, columns;
    std::uint64_t fill, beats;
  };
  for (const Case& c : {Case{16, 64, 2, 8}, Case{1, 64, 2, 8}, Case{1, 8, 1, 1}, Case{40, 196, 7, 25}}) {
    Bench bench(rtl_machine());
    const std::uint64_t drain = c.fill;
    EXPECT_EQ(cycles_of(bench, kVec, softmax(c.rows, c.columns, kIn, kOut)),
              kPush + 1 + c.fill + 1 + c.rows * c.beats + 5 + 18 + 1 - 1 + c.beats + 2 + 1 - 1 + drain)
        << c.rows << " x " << c.columns;
  }
}

TEST(RtlVecEngine, ValuesAreThoseOfTheDefinition) {
  // Rows longer than the unit's buffers (4096) come three times; rows that L0 does not hold are read again from L1.
  struct Case {
    std::uint32_t rows, columns;
    std::uint64_t l0;
  };
  for (const Case& c : {Case{5, 77, 64 << 10}, Case{5, 77, 256}, Case{3, 5000, 64 << 10}, Case{2, 9000, 64 << 10}}) {
    for (const bool in_place : {false, true}) {
      MachineConfig m = rtl_machine();
      m.l0.size_bytes = c.l0;
      Bench bench(m);
      const std::uint32_t stride = c.columns + 13;
      std::vector<arith::Half> in(c.rows * stride);
      for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<arith::Half>(0x3000 + i * 37 % 0x1800);
      const std::uint64_t out = in_place ? kIn : kOut;
      bench.run([&](Bench& b) {
        b.set_l1(kOut, in);
        b.set_l1(kIn, in);
        hal::Descriptor d = softmax(c.rows, c.columns, kIn, out);
        d.operand[0].row_stride = d.operand[1].row_stride = 2 * stride;
        b.push(kVec, then(d, 0));
        b.take(0);
      });
      std::vector<arith::Half> expected = in;
      for (std::uint32_t r = 0; r < c.rows; ++r) {
        arith::softmax_row_reference(in.data() + r * stride, expected.data() + r * stride, c.columns);
      }
      EXPECT_EQ(bench.l1<arith::Half>(out, c.rows * stride), expected) << c.rows << " x " << c.columns;
    }
  }
}

// Online steps of every form, one after the other on the same rows: all they leave in L1 is what the model leaves.
TEST(RtlVecEngine, OnlineStepsLeaveWhatTheModelLeaves) {
  constexpr std::uint32_t kRows = 9, kColumns = 53;
  constexpr std::uint64_t kS = kL1, kP = kL1 + 0x4000, kM = kL1 + 0x8000, kTile = kL1 + 0x9000, kScales = kL1 + 0xA000,
                          kMore = kL1 + 0xB000, kR = kL1 + 0xC000;
  std::vector<std::vector<std::uint16_t>> images;
  for (const bool rtl : {false, true}) {
    Bench bench(rtl_machine(rtl));
    bench.run([&](Bench& b) {
      std::vector<std::uint16_t> noise(0x8000);
      for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<std::uint16_t>(0x3000 + i * 37 % 0x1800);
      b.set_l1(kL1, noise);
      const auto op = [](hal::Opcode opcode, int flags, std::uint32_t columns) {
        hal::Descriptor d{};
        d.opcode = opcode;
        d.flags = static_cast<std::uint8_t>(flags);
        d.dims[0] = kRows;
        d.dims[1] = columns;
        d.dims[2] = 1;
        return d;
      };
      for (const int flags : {+hal::kFirst, 0, 0}) {
        hal::Descriptor d = op(hal::Opcode::kOnlineSoftmax, flags, kColumns);
        d.operand[0] = {kS + (flags == 0 ? 0x2000U : 0U), 2 * kColumns, 0};
        d.operand[1] = {kP + (flags == 0 ? 0x2000U : 0U), 2 * kColumns, 0};
        d.operand[2] = {kM, 2, 0};
        d.operand[3] = {kTile, 8, 0};
        b.push(kVec, d);
        hal::Descriptor sum = op(hal::Opcode::kScaleAdd, flags, 1);
        sum.operand[0] = {kR, 4, 0};
        sum.operand[1] = {kTile, 8, 0};
        sum.operand[2] = {kTile + 4, 8, 0};
        b.push(kVec, sum);
      }
      for (const int flags : {+hal::kFirst, 0, +hal::kTwoScales, +hal::kUnscaled}) {
        hal::Descriptor d = op(hal::Opcode::kOnlineMax, flags, 1);
        d.operand[0] = {kMore, 2, 0};
        d.operand[1] = {kM, 2, 0};
        d.operand[2] = {kScales + static_cast<std::uint64_t>(flags) * 16, 8, 0};
        d.operand[3] = {kM + 0x100 + static_cast<std::uint64_t>(flags) * 2, 2, 0};
        b.push(kVec, flags == hal::kUnscaled ? then(d, 0) : d);
      }
      b.take(0);
    });
    EXPECT_FALSE(bench.platform().context().faults.any());
    images.push_back(bench.l1<std::uint16_t>(kL1, 0x8000));
  }
  EXPECT_TRUE(images[0] == images[1]);
}

TEST(RtlVecEngine, AnIdleUnitIsNotClocked) {
  Bench bench(rtl_machine());
  auto* unit = dynamic_cast<rtl::RtlVecUnit*>(bench.core().vec.get_child_objects().back());
  ASSERT_NE(unit, nullptr);
  cycles_of(bench, kVec, softmax(16, 64, kIn, kOut));
  const std::uint64_t once = unit->clocked_cycles.value();
  // Two with a long pause between them: the pause is not clocked.
  const std::uint64_t cycles = bench.run([](Bench& b) {
    b.push(kVec, then(softmax(16, 64, kIn, kOut), 0));
    b.take(0);
    for (int i = 0; i < 1000; ++i) b.count(0);
    b.push(kVec, then(softmax(16, 64, kIn, kOut), 0));
    b.take(0);
  });
  EXPECT_EQ(unit->clocked_cycles.value(), 2 * once);
  EXPECT_GT(cycles, 1000 + 2 * once);
}

// Halted in the middle of a softmax in place and resumed, it is done again from the start.
TEST(RtlVecEngine, AHaltedSoftmaxIsDoneAgain) {
  Bench bench(rtl_machine());
  std::vector<arith::Half> in(16 * 64);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<arith::Half>(0x3000 + i * 37 % 0x1800);
  const std::uint64_t cycles = bench.run([&](Bench& b) {
    b.set_l1(kIn, in);
    b.push(kVec, then(softmax(16, 64, kIn, kIn), 0));
    for (int i = 0; i < 60; ++i) b.count(1);
    EXPECT_TRUE(hal::write32(b.cpu(), kVec + hal::kEngineControl, hal::kHalt));
    for (int i = 0; i < 40; ++i) b.count(1);
    EXPECT_TRUE(hal::write32(b.cpu(), kVec + hal::kEngineControl, hal::kResume));
    b.take(0);
  });
  std::vector<arith::Half> expected = in;
  for (std::size_t r = 0; r < 16; ++r) arith::softmax_row_reference(&in[r * 64], &expected[r * 64], 64);
  EXPECT_EQ(bench.l1<arith::Half>(kIn, in.size()), expected);
  EXPECT_EQ(bench.core().vec.halts.value(), 1U);
  EXPECT_GT(cycles, 100 + 16 * 8U);
}

TEST(RtlVecEngine, AWrongAddressIsAFault) {
  Bench bench(rtl_machine());
  bench.run([&](Bench& b) {
    b.push(kVec, then(softmax(16, 64, kL1 + (64 << 20), kOut), 0));
    EXPECT_FALSE(b.take(0));
  });
  EXPECT_TRUE(bench.platform().context().faults.any());
}

}  // namespace
}  // namespace attnvp::bench
