// Cycle counts by hand. A softmax of R rows of C: fill one row; body R - 1 rows, each C x 32 / 256 cycles
// rounded up, or their traffic if that takes longer; last row; 16 cycles of pipeline; the last row's result
// over the port.
#include <fmt/format.h>

#include "models/arith/softmax.h"
#include "tests/models/bench.h"

namespace attnvp::bench {
namespace {

constexpr std::uint64_t kIn = kL1, kOut = kL1 + 0x20000;

struct Case {
  std::uint32_t rows, columns, lanes;
  std::uint64_t l0_bytes;
  std::uint64_t cycles;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.rows << " x " << c.columns; }

class SoftmaxCycles : public testing::TestWithParam<Case> {};

TEST_P(SoftmaxCycles, AreTheHandCount) {
  const Case& c = GetParam();
  MachineConfig m = machine();
  m.vec.lanes = c.lanes;
  m.l0.size_bytes = c.l0_bytes;
  Bench bench(m);
  EXPECT_EQ(cycles_of(bench, kVec, softmax(c.rows, c.columns, kIn, kOut)), c.cycles);
  EXPECT_EQ(bench.core().vec->value("elements"), std::uint64_t{c.rows} * c.columns);
  EXPECT_EQ(bench.core().vec->value("lane_ops"), std::uint64_t{c.rows} * c.columns * 32);
}

INSTANTIATE_TEST_SUITE_P(Shapes, SoftmaxCycles,
                         testing::Values(
                             // A row is 128 B = 2, 8 cycles of compute; body 15 x 8 = 120, traffic 15 x 256 B = 60.
                             Case{16, 64, 256, 64 << 10, kPush + 2 + 120 + 8 + 16 + 2},
                             Case{1, 64, 256, 64 << 10, kPush + 2 + 0 + 8 + 16 + 2},
                             Case{1, 1, 256, 64 << 10, kPush + 1 + 0 + 1 + 16 + 1},
                             // Four times the lanes: 2 cycles a row, and traffic sets the pace.
                             Case{16, 64, 1024, 64 << 10, kPush + 2 + 60 + 2 + 16 + 2},
                             // Ragged: 10 x 32 / 256 = 1.25, 2 cycles a row; a row is 20 B; body 80 B = 1.25 < 4.
                             Case{3, 10, 256, 64 << 10, kPush + 1 + 4 + 2 + 16 + 1},
                             // VEC's half of L0 holds a row twice, just: one pass.
                             Case{16, 64, 512, 512, kPush + 2 + 60 + 4 + 16 + 2},
                             // One byte short of it: three passes of reads and one of writes, 15 x 512 B = 120 > 60;
                             // last 256 B = 4.
                             Case{16, 64, 512, 510, kPush + 2 + 120 + 4 + 16 + 2},
                             // Last row bound by traffic: 1 cycle of compute, 256 B = 4 of reads.
                             Case{2, 64, 2048, 256, kPush + 2 + 8 + 4 + 16 + 2}),
                         [](const auto& of) {
                           const Case& c = of.param;
                           return fmt::format("{}x{}Lanes{}L0{}", c.rows, c.columns, c.lanes, c.l0_bytes);
                         });

TEST(VecEngine, RowsSideBySideShareTheLanes) {
  // Eight rows on 32 lanes each: 64 cycles for every eight rows. 16 rows: body 64 > 15 x 256 B = 60.
  MachineConfig m = machine();
  m.vec.rows = 8;
  Bench bench(m);
  EXPECT_EQ(cycles_of(bench, kVec, softmax(16, 64, kIn, kOut)), kPush + 2 + 64 + 64 + 16 + 2);
  EXPECT_EQ(bench.core().vec->value("slots"), 128U * 256);
}

TEST(VecEngine, ARowBesideNoneTakesAsLongAsEight) {
  MachineConfig m = machine();
  m.vec.rows = 8;
  Bench bench(m);
  EXPECT_EQ(cycles_of(bench, kVec, softmax(17, 64, kIn, kOut)), kPush + 2 + 128 + 64 + 16 + 2);
}

TEST(VecEngine, TwoSoftmaxesOverlapLikeMatmuls) {
  // The second's fill hides behind the first's last row, the first's drain behind the second's body.
  Bench bench;
  const std::uint64_t cycles = bench.run([](Bench& b) {
    b.push(kVec, softmax(16, 64, kIn, kOut));
    b.push(kVec, then(softmax(16, 64, kIn, kOut + 0x1000), 0));
    b.take(0);
  });
  EXPECT_EQ(cycles, kPush + 2 + 2 * 128 + 16 + 2);
}

TEST(VecEngine, ValuesAreThoseOfTheDefinitionWhateverL0Holds) {
  for (const std::uint64_t l0 : {64ULL << 10, 256ULL}) {
    for (const bool in_place : {false, true}) {
      MachineConfig m = machine();
      m.l0.size_bytes = l0;
      Bench bench(m);
      const std::uint32_t rows = 5, columns = 77, stride = 90;
      std::vector<arith::Half> in(rows * stride);
      for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<arith::Half>(0x3000 + i * 37 % 0x1800);
      const std::uint64_t out = in_place ? kIn : kOut;
      bench.run([&](Bench& b) {
        b.set_l1(kOut, in);
        b.set_l1(kIn, in);
        hal::Descriptor d = softmax(rows, columns, kIn, out);
        d.operand[0].row_stride = d.operand[1].row_stride = 2 * stride;
        b.push(kVec, then(d, 0));
        b.take(0);
      });
      std::vector<arith::Half> expected = in;
      for (std::uint32_t r = 0; r < rows; ++r) {
        arith::softmax_row_reference(in.data() + r * stride, expected.data() + r * stride, columns);
      }
      EXPECT_EQ(bench.l1<arith::Half>(out, rows * stride), expected);
    }
  }
}

// Four times the lanes: the body's 15 rows are 128 B = 2 each, the other half of its traffic and the drain are not
// there.
TEST(VecEngine, AResultThatPassesL1ByIsNoTraffic) {
  MachineConfig m = machine();
  m.vec.lanes = 1024;
  Bench bench(m);
  hal::Descriptor d = softmax(16, 64, kIn, kOut);
  d.flags |= hal::kForwarded;
  EXPECT_EQ(cycles_of(bench, kVec, d), kPush + 2 + 30 + 2 + 16);
  EXPECT_EQ(bench.cluster().l1->value("read_words"), 16U * 64);
  EXPECT_EQ(bench.cluster().l1->value("write_words"), 0U);
}

TEST(VecEngine, CountsWordsOfOnePassOrThree) {
  for (const bool fits : {true, false}) {
    MachineConfig m = machine();
    m.l0.size_bytes = fits ? 512 : 256;
    Bench bench(m);
    cycles_of(bench, kVec, softmax(4, 64, kIn, kOut));
    EXPECT_EQ(bench.cluster().l1->value("read_words"), (fits ? 1U : 3U) * 256);
    EXPECT_EQ(bench.cluster().l1->value("write_words"), 256U);
    EXPECT_LE(bench.core().l0->value("peak_bytes"), m.l0.size_bytes / 2);
  }
}

}  // namespace
}  // namespace attnvp::bench
