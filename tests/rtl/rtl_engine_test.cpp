// The VEC engine with its datapath in RTL, on the bench. Cycles: behind the model's by a row's way through the unit.
#include "models/arith/softmax.h"
#include "rtl/vec/rtl_vec_engine.h"
#include "tests/models/engine/online_ops.h"

namespace attnvp::bench {
namespace {

constexpr std::uint64_t kIn = kL1, kOut = kL1 + 0x80000;

MachineConfig rtl_machine(bool rtl = true) {
  MachineConfig m = machine();
  m.vec.kind = rtl ? "rtl" : "model";
  return m;
}

// The model: 16 cycles from a row's last operand to its result. The RTL's pipeline is longer: with b beats a row, 1
// cycle to take what was asked and 1 to know the row's maximum before the first beat is read, then, behind the last
// one, 5 to the sum, 10 to the reciprocal, 1 buffer, b beats of output, 2 of product and rounding, 1 buffer.
TEST(RtlVecEngine, CyclesAreTheHandCount) {
  struct Case {
    std::uint32_t rows, columns;
    std::uint64_t fill, beats;
  };
  for (const Case& c : {Case{16, 64, 2, 8}, Case{1, 64, 2, 8}, Case{1, 8, 1, 1}, Case{40, 196, 7, 25}}) {
    Bench bench(rtl_machine());
    const std::uint64_t drain = c.fill;
    EXPECT_EQ(cycles_of(bench, kVec, softmax(c.rows, c.columns, kIn, kOut)),
              kPush + 1 + c.fill + 1 + c.rows * c.beats + 5 + 10 + 1 - 1 + c.beats + 2 + 1 - 1 + drain)
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

// Row operations of every form, one after the other on the same rows and without an event between them: all that they
// leave in L1 is what the model leaves.
struct Numbers {
  const char* name;
  std::uint16_t (*at)(std::size_t);
  friend void PrintTo(const Numbers& numbers, std::ostream* out) { *out << numbers.name; }
};
class RtlRowOperations : public testing::TestWithParam<Numbers> {};

TEST_P(RtlRowOperations, LeaveWhatTheModelLeaves) {
  constexpr std::uint32_t kRows = 9, kColumns = 53, kEmb = 21;
  constexpr std::uint64_t kS = kL1, kP = kL1 + 0x4000, kM = kL1 + 0x8000, kTile = kL1 + 0x9000, kScales = kL1 + 0xA000,
                          kMore = kL1 + 0xB000, kR = kL1 + 0xC000, kT = kL1 + 0xD000, kO = kL1 + 0xE000;
  std::vector<std::vector<std::uint16_t>> images;
  for (const bool rtl : {false, true}) {
    Bench bench(rtl_machine(rtl));
    bench.run([&](Bench& b) {
      std::vector<std::uint16_t> memory(0x8000);
      for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = GetParam().at(i);
      b.set_l1(kL1, memory);
      const auto push = [&](hal::Opcode opcode, int flags, std::uint32_t columns,
                            const std::vector<OperandRange>& operands) {
        b.push(kVec, then(online(opcode, kRows, columns, flags, operands), 0));
      };
      for (const int flags : {+hal::kFirst, 0, 0}) {
        const std::uint32_t later = flags == 0 ? 0x2000U : 0U;
        push(hal::Opcode::kOnlineSoftmax, flags, kColumns,
             {{kS + later, 2 * kColumns}, {kP + later, 2 * kColumns}, {kM, 2}, {kTile, 8}});
        push(hal::Opcode::kScaleAdd, flags, 1, {{kR + 4 * kEmb, 4 * kEmb + 4}, {kTile, 8}, {kTile + 4, 8}});
        push(hal::Opcode::kScaleAdd, flags, kEmb, {{kR, 4 * kEmb + 4}, {kT, 4 * kEmb}, {kTile + 4, 8}});
      }
      for (const int flags : {+hal::kFirst, 0, +hal::kTwoScales, +hal::kUnscaled, hal::kFirst | hal::kTwoScales}) {
        const std::uint64_t slot = static_cast<std::uint64_t>(flags) * 16;
        push(hal::Opcode::kOnlineMax, flags, 1,
             {{kMore, 2}, {kM, 2}, {kScales + slot, 8}, {kM + 0x100 + 2 * static_cast<std::uint64_t>(flags), 2}});
        push(hal::Opcode::kScaleAdd, flags, kEmb, {{kR, 4 * kEmb + 4}, {kT, 4 * kEmb}, {kScales + slot, 8}});
      }
      // Both ways round, and with any bits as maxima: the definition says what comes out.
      push(hal::Opcode::kRescale, 0, kEmb, {{kR, 4 * kEmb + 4}, {kM, 2}, {kM + 0x100, 2}});
      push(hal::Opcode::kRescale, 0, kEmb, {{kT, 4 * kEmb}, {kM + 0x100, 2}, {kM, 2}});
      push(hal::Opcode::kRescale, 0, kEmb, {{kT, 4 * kEmb}, {kS, 2}, {kS + 0x200, 2}});
      push(hal::Opcode::kDivide, 0, kEmb, {{kR, 4 * kEmb + 4}, {kO, 2 * kEmb}, {kR + 4 * kEmb, 4 * kEmb + 4}});
      for (int i = 0; i < 23; ++i) b.take(0);
    });
    EXPECT_FALSE(bench.platform().context().faults.any());
    EXPECT_EQ(bench.core().vec->value("descriptors"), 23U);
    images.push_back(bench.l1<std::uint16_t>(kL1, 0x8000));
    if (rtl) continue;
    std::vector<std::uint16_t> before(0x8000);
    for (std::size_t i = 0; i < before.size(); ++i) before[i] = GetParam().at(i);
    for (const std::uint64_t written : {kP, kR, kT, kO}) {
      EXPECT_NE(images[0][(written - kL1) / 2], before[(written - kL1) / 2]) << written;
    }
  }
  for (std::size_t i = 0; i < images[0].size(); ++i) ASSERT_EQ(images[0][i], images[1][i]) << std::hex << 2 * i;
}

INSTANTIATE_TEST_SUITE_P(
    Numbers, RtlRowOperations,
    testing::Values(Numbers{"Scores",
                            [](std::size_t i) { return static_cast<std::uint16_t>(0x3000 + i * 37 % 0x1800); }},
                    Numbers{"AnyBits", [](std::size_t i) { return static_cast<std::uint16_t>((i * 40503U) >> 4); }}),
    [](const auto& of) { return std::string(of.param.name); });

// The FP32 block takes 16 elements a cycle, packed over the lanes whatever the rows' length. L1 does not give more than
// 5.3 of a scale-add and 10.7 of a division, as to the model: a scale-add takes the very same cycles, a division at
// most 3 more, of pipeline.
TEST(RtlVecEngine, RowOperationsTakeWhatL1Takes) {
  for (const std::uint32_t columns : {1U, 3U, 16U, 17U, 64U, 65U}) {
    for (const std::uint32_t rows : {1U, 7U, 17U, 100U, 200U}) {
      for (const bool divide : {false, true}) {
        const auto cycles = [&](bool rtl) {
          Bench bench(rtl_machine(rtl));
          const auto opcode = divide ? hal::Opcode::kDivide : hal::Opcode::kScaleAdd;
          return cycles_of(
              bench, kVec,
              online(opcode, rows, columns, 0, {{kIn, 4 * columns}, {kOut, 4 * columns}, {kIn + 0x40000, 4}}));
        };
        const std::uint64_t model = cycles(false), rtl = cycles(true);
        EXPECT_GE(rtl, model) << rows << " x " << columns;
        EXPECT_LE(rtl, model + (divide ? 3 : 0)) << rows << " x " << columns;
      }
    }
  }
}

// Whenever a halt comes, what is done again leaves what it would have left without one, and so does the next
// descriptor, which needs its rows.
TEST(RtlVecEngine, AHaltLeavesResultsThatLaterOnesNeed) {
  constexpr std::uint32_t kRows = 60, kColumns = 20;
  constexpr std::uint64_t kP = kL1 + 0x4000, kM = kL1 + 0x8000, kScales = kL1 + 0x9000, kOld = kL1 + 0xA000,
                          kNew = kL1 + 0xA100, kR = kL1 + 0xB000;
  std::vector<std::vector<std::uint16_t>> images;
  std::uint64_t halts = 0;
  for (int halt_at = -1; halt_at < 300; halt_at += 7) {
    const auto command = [&](Bench& b, std::uint32_t value) {
      const bool written = halt_at < 0 || hal::write32(b.cpu(), kVec + hal::kEngineControl, value);
      EXPECT_TRUE(written);
    };
    Bench bench(rtl_machine());
    bench.run([&](Bench& b) {
      std::vector<std::uint16_t> memory(0x8000);
      for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::uint16_t>(0x3000 + i * 37 % 0x1800);
      b.set_l1(kL1, memory);
      b.push(kVec, then(online(hal::Opcode::kOnlineSoftmax, kRows, kColumns, 0,
                               {{kIn, 2 * kColumns}, {kP, 2 * kColumns}, {kM, 2}, {kScales, 8}}),
                        0));
      b.push(kVec,
             then(online(hal::Opcode::kOnlineMax, kRows, 1, 0, {{kM, 2}, {kOld, 2}, {kScales, 8}, {kNew, 2}}), 0));
      b.push(kVec, then(online(hal::Opcode::kScaleAdd, kRows, 5, 0, {{kR, 20}, {kR + 0x1000, 20}, {kScales, 8}}), 0));
      for (int i = 0; i < halt_at; ++i) b.count(1);
      command(b, hal::kHalt);
      for (int i = 0; i < 20; ++i) b.count(1);
      command(b, hal::kResume);
      for (int i = 0; i < 3; ++i) b.take(0);
    });
    EXPECT_EQ(bench.core().vec->value("descriptors"), 3U) << halt_at;
    images.push_back(bench.l1<std::uint16_t>(kL1, 0x8000));
    EXPECT_EQ(images.back(), images.front()) << halt_at;
    halts += bench.core().vec->value("halts");
  }
  EXPECT_GT(halts, 10U);
}

// Halted in the middle of a scale-add in place and resumed, it is done again, once.
TEST(RtlVecEngine, AHaltedScaleAddIsDoneOnce) {
  Bench bench(rtl_machine());
  constexpr std::uint32_t kRows = 32, kColumns = 64;
  std::vector<float> x(kRows * kColumns, 3.0F), z(kRows * kColumns, 0.5F);
  bench.run([&](Bench& b) {
    b.set_l1(kIn, x);
    b.set_l1(kOut, z);
    b.set_l1(kIn + 0x40000, std::vector<float>(kRows, 2.0F));
    b.push(kVec, then(online(hal::Opcode::kScaleAdd, kRows, kColumns, 0,
                             {{kIn, 4 * kColumns}, {kOut, 4 * kColumns}, {kIn + 0x40000, 4}}),
                      0));
    for (int i = 0; i < 100; ++i) b.count(1);
    EXPECT_TRUE(hal::write32(b.cpu(), kVec + hal::kEngineControl, hal::kHalt));
    for (int i = 0; i < 40; ++i) b.count(1);
    EXPECT_TRUE(hal::write32(b.cpu(), kVec + hal::kEngineControl, hal::kResume));
    b.take(0);
  });
  EXPECT_EQ(bench.core().vec->value("halts"), 1U);
  EXPECT_EQ(bench.l1<float>(kIn, x.size()), std::vector<float>(x.size(), 6.5F));
}

TEST(RtlVecEngine, AnIdleUnitIsNotClocked) {
  Bench bench(rtl_machine());
  auto* unit = [&]() -> rtl::RtlVecUnit* {
    for (sc_core::sc_object* child : bench.core().vec->get_child_objects()) {
      if (auto* found = dynamic_cast<rtl::RtlVecUnit*>(child)) return found;
    }
    return nullptr;
  }();
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
  EXPECT_EQ(bench.core().vec->value("halts"), 1U);
  EXPECT_GT(cycles, 100 + 16 * 8U);
}

TEST(RtlVecEngine, ANopGivesItsEvents) {
  Bench bench(rtl_machine());
  cycles_of(bench, kVec, hal::Descriptor{});
  EXPECT_EQ(bench.core().vec->value("descriptors"), 1U);
}

// It has no datapath for what a layer does between its products.
TEST(RtlVecEngine, RefusesALayersOperations) {
  for (const bool rtl : {true, false}) {
    Bench bench(rtl_machine(rtl));
    bench.run([&](Bench& b) {
      hal::Descriptor d = softmax(16, 64, kIn, kOut);
      d.opcode = hal::Opcode::kActivate;
      b.push(kVec, then(d, 0));
      EXPECT_EQ(b.take(0), !rtl);
    });
    EXPECT_EQ(bench.platform().context().faults.any(), rtl);
  }
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
