// The RTL of the VEC engine against models/arith, bit for bit, and its cycles against counts by hand.
#include "tests/rtl/vec_rows.h"

namespace attnvp::rtl {
namespace {

using Halves = std::vector<arith::Half>;
using Flags = std::vector<std::uint8_t>;

template <class Driver>
class VecUnit : public testing::Test {};
using Drivers = testing::Types<UnitDriver, SmallDriver>;
TYPED_TEST_SUITE(VecUnit, Drivers);

TYPED_TEST(VecUnit, RandomRowsWithStallsMatchTheModel) {
  static constexpr Stalls kStalls[] = {{0, 0, 0},    {50, 0, 0}, {0, 50, 0}, {0, 0, 50},
                                       {30, 30, 30}, {0, 0, 90}, {90, 90, 0}};
  RowMaker maker(7, 2 * TypeParam::kBuffer > 1000 ? 700 : 200);
  VecBench<TypeParam> bench;
  for (const Stalls& stalls : kStalls) {
    bench.check(maker.make(TypeParam::kLanes < 8 ? 500 : 3000), stalls);
    if (this->HasFatalFailure()) return;
  }
}

// Every FP16 pattern x beside a maximum m: through the exponential (online form, which puts it out), and through sum
// and normalisation.
TYPED_TEST(VecUnit, AllHalvesMatchTheModel) {
  const bool small = TypeParam::kLanes < 8;  // and slower: it counts coverage
  for (const arith::Half m : small ? Halves{0x4900} : Halves{0x0000, 0x3C00, 0x7BFF, 0x4900, 0xC900}) {
    for (const std::uint8_t flags : Flags{0, +kOnline}) {
      std::vector<Row> rows;
      for (std::uint32_t x = 0; x < 0x10000; x += 7) {
        Row row;
        row.flags = flags;
        row.running_max = m;
        for (std::uint32_t i = 0; i < 7; ++i) {
          // Those above m would hide all others: they have rows of their own.
          const auto half = static_cast<arith::Half>(std::min(x + i, 0xFFFFU));
          const bool above = arith::running_max(half, m) != m;
          if (above) rows.push_back({{half, m}, flags, m});
          if (!above) row.in.push_back(half);
        }
        row.in.push_back(m);
        rows.push_back(row);
      }
      VecBench<TypeParam> bench;
      bench.check(rows, {});
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(VecUnit, SpecialRowsMatchTheModel) {
  std::vector<Row> rows;
  for (const std::vector<arith::Half>& in : std::vector<std::vector<arith::Half>>{{0x3C00},
                                                                                  {0xFC00},
                                                                                  {0x7C00},
                                                                                  {0x7E00},
                                                                                  {0xFE01},
                                                                                  {0x8000},
                                                                                  {0x0000, 0x8000},
                                                                                  {0x7BFF, 0xFBFF},
                                                                                  {0xFC00, 0xFC00},
                                                                                  {0xFC00, 0x0001},
                                                                                  {0x7C00, 0xFC00},
                                                                                  {0x7D01, 0x3C00},
                                                                                  {0xFBFF, 0xFBFF, 0xFBFF}}) {
    for (const std::uint8_t flags : Flags{0, +kOnline, kOnline | kFirst}) {
      for (const arith::Half m : Halves{0x0000, 0x8000, 0xFC00, 0x7C00, 0x7E00, 0x7D00, 0x7BFF})
        rows.push_back({in, flags, m});
    }
  }
  for (const std::size_t n : {1U, 3U, 255U, 256U, 4096U, 4097U}) {
    for (const arith::Half x : Halves{0x0000, 0xFBFF, 0x7BFF}) rows.push_back({std::vector<arith::Half>(n, x), 0, 0});
  }
  VecBench<TypeParam> bench;
  bench.check(rows, {10, 10, 10});
}

TEST(VecUnitRtl, ARowOfAMillion) {
  std::mt19937 random(3);
  Row row;
  row.in.resize(1 << 20);
  for (arith::Half& x : row.in) x = static_cast<arith::Half>(0x3000 + random() % 0x1400);
  VecBench<UnitDriver> bench;
  bench.check(std::vector<Row>{row}, {});
  // Fed three times: 2^20 / 32 words for the maximum, and twice 2^20 / 8 beats; 40 cycles for the way through.
  EXPECT_GE(bench.cycles(), 32768U + 2 * 131072);
  EXPECT_LE(bench.cycles(), 32768U + 2 * 131072 + 40);
  VecBench<UnitDriver> equal;
  row.in.assign(row.in.size(), 0x3C00);
  equal.check(std::vector<Row>{row}, {});
}

// Steady state: eight elements a cycle, whatever the rows' length; a row's way through the unit comes on top once.
TEST(VecUnitRtl, SustainsEightElementsACycle) {
  for (const std::size_t length : {1U, 8U, 12U, 64U, 196U, 512U, 2048U}) {
    const auto cycles = [&](std::size_t count) {
      VecBench<UnitDriver> bench;
      std::vector<Row> rows(count, {std::vector<arith::Half>(length, 0x3C00), 0, 0});
      bench.run(rows, {}, [](const Row&, const RowResult&) {});
      return bench.cycles();
    };
    const std::uint64_t beats = (length + 7) / 8, words = (length + 31) / 32;
    EXPECT_EQ(cycles(200) - cycles(100), 100 * beats) << length;
    // The words, 1 cycle for the maximum; from the first beat to the last, then 5 stages to the sum, 10 of reciprocal
    // and its buffer; the beats of the output, 2 stages and a buffer.
    EXPECT_EQ(cycles(1), words + 1 + (beats - 1) + 5 + 10 + 1 + beats + 2 + 1) << length;
  }
}

// Control does not look at the numbers.
TEST(VecUnitRtl, CyclesDoNotDependOnTheNumbers) {
  const auto cycles = [](std::uint64_t seed) {
    VecBench<UnitDriver> bench;
    std::mt19937 random(seed);
    std::vector<Row> rows;
    for (std::size_t n = 1; n < 300; n += 7) {
      Row row{std::vector<arith::Half>(n), static_cast<std::uint8_t>(n % 3 == 0 ? kOnline : 0), 0};
      for (arith::Half& x : row.in) x = seed == 0 ? 0 : static_cast<arith::Half>(random());
      rows.push_back(row);
    }
    bench.run(rows, {20, 20, 20}, [](const Row&, const RowResult&) {});
    return bench.cycles();
  };
  EXPECT_EQ(cycles(0), cycles(1));
  EXPECT_EQ(cycles(0), cycles(2));
}

// The assertions are awake: a bench that breaks a rule is told.
TEST(VecUnitRtl, AnOfferThatIsWithdrawnIsAnError) {
  VecBench<UnitDriver> bench;
  UnitDriver& unit = bench.driver();
  const std::vector<arith::Half> word(UnitDriver::kWord, 0x3C00);
  unit.offer_word(word.data(), word.size());  // no command: not taken
  unit.settle();
  ASSERT_FALSE(unit.takes_word());
  unit.clock();
  unit.offer_word(nullptr, 0);
  unit.settle();
  EXPECT_THROW(unit.clock(), std::logic_error);
}

TEST(VecUnitRtl, AnOfferThatChangesIsAnError) {
  VecBench<UnitDriver> bench;
  UnitDriver& unit = bench.driver();
  const VecCommand command{0, 5, 0}, other{0, 6, 0};
  unit.offer(&command);
  unit.settle();
  ASSERT_FALSE(unit.takes_command());  // not before the row's last word
  unit.clock();
  unit.offer(&other);
  unit.settle();
  EXPECT_THROW(unit.clock(), std::logic_error);
}

}  // namespace
}  // namespace attnvp::rtl
