// Row operations on the MAC array's own PEs, a 16 x 16 array here that holds 4 tiles. Cycle counts by hand, from the
// doorbell on: fill (operands of the first pass over the 64 B/cycle port), body (all passes but the last, or their
// traffic), last, 30 cycles of skew, drain (the results). A pass of scores is k cycles and 1 for the maximum, which
// leaves the array 15 later; a pass of numerators 1 + 6 + 1 for difference, exponential and sum, and one cycle per
// column of V.
#include <fmt/format.h>

#include "models/arith/matmul.h"
#include "models/engine/mac_engine/mac_engine.h"
#include "tests/models/engine/online_ops.h"

namespace attnvp::bench {
namespace {

constexpr std::uint64_t kA = kL1, kB = kL1 + 0x20000, kMax = kL1 + 0x40000, kV = kL1 + 0x50000, kSums = kL1 + 0x60000;

MachineConfig array_machine() {
  MachineConfig m = machine();
  m.mac.resident_tiles = 4;
  m.mac.reduce_cycles = 15;
  return m;
}

struct Case {
  std::uint32_t rows, keys, emb;
  std::uint32_t port;  // bytes a cycle
  std::uint64_t score, attend;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.rows << " x " << c.keys << " x " << c.emb; }

class TileCycles : public testing::TestWithParam<Case> {};

TEST_P(TileCycles, AreTheHandCount) {
  const Case& c = GetParam();
  for (const bool full_data : {true, false}) {
    MachineConfig m = array_machine();
    m.l1.port_bytes_per_cycle = c.port;
    Bench bench(m, full_data);
    std::uint64_t scored = 0;
    const std::uint64_t both = bench.run([&](Bench& b) {
      b.push(kMac, then(score(c.rows, c.keys, c.emb, 0, kA, kB, kMax), 0));
      b.take(0);
      scored = b.now();
      b.push(kMac, then(attend(c.rows, c.emb, c.keys, 0, kMax, kV, kSums), 0));
      b.take(0);
    });
    EXPECT_EQ(scored, kPush + c.score);
    EXPECT_EQ(both - scored, kPush + c.attend);
    const auto& mac = dynamic_cast<const MacEngine&>(*bench.core().mac);
    const std::uint64_t scores = std::uint64_t{c.rows} * c.keys;
    const std::uint64_t passes = std::uint64_t{(c.rows + 15) / 16} * ((c.keys + 15) / 16);
    EXPECT_EQ(mac.compute.value(), 2 * scores * c.emb);
    EXPECT_EQ(mac.max_ops.value(), scores);
    EXPECT_EQ(mac.add_ops.value(), 2 * scores);
    EXPECT_EQ(mac.exp_ops.value(), scores);
    EXPECT_EQ(mac.slots.value(), passes * 256 * (2 * c.emb + 9));
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, TileCycles,
                         testing::Values(
                             // One pass. Scores: fill 2 x 256 B = 8, last 8 + 1, drain 32 B. Numerators: fill 32 + 256
                             // B = 4.5, last 8 + 8, drain 16 x 9 x 4 B = 9.
                             Case{16, 16, 8, 64, 8 + 0 + 9 + 45 + 1, 5 + 0 + 16 + 30 + 9},
                             // One score, one column: fill 4 B, last 2; fill 4 B, last 9, drain 8 B.
                             Case{1, 1, 1, 64, 1 + 0 + 2 + 45 + 1, 1 + 0 + 9 + 30 + 1},
                             // Four passes of 11. Fill 640 B = 10; A twice, B twice, less that: 1440 B = 22.5 < 33;
                             // drain 64 B. Numerators: passes of 18. Fill 32 + 16 x 20 B = 5.5; body 32 + V twice 800 -
                             // 320, and the first 16 rows of sums, 704: 1216 B = 19 < 54; drain 704 B = 11.
                             Case{32, 20, 10, 64, 10 + 33 + 11 + 45 + 1, 6 + 54 + 18 + 30 + 11},
                             // The same over a port of 8 B a cycle: traffic sets the pace, 80, 180, 8; 44, 152, 88.
                             Case{32, 20, 10, 8, 80 + 180 + 11 + 45 + 8, 44 + 152 + 18 + 30 + 88},
                             // Ragged rows: 2 passes of 33. Fill 32 x 64 B = 32; A once, 17 rows, B twice, less that:
                             // 17 x 64 + 2 x 1024 - 2048 B = 17 < 33; drain 34 B. Numerators: passes of 40; fill 32 +
                             // 1024 B = 16.5; body 2 + 1024 and 16 rows of 132 B: 3138 B = 49.03 > 40; drain one row.
                             Case{17, 16, 32, 64, 32 + 33 + 33 + 45 + 1, 17 + 50 + 40 + 30 + 3}),
                         [](const auto& of) {
                           const Case& c = of.param;
                           return fmt::format("{}x{}x{}Port{}", c.rows, c.keys, c.emb, c.port);
                         });

TEST(TileOps, TwoTilesInterleave) {
  // Scores of a second tile are computed while the first's maxima leave the array: after a second push the second tile
  // takes as long as if it were alone.
  Bench bench(array_machine());
  const std::uint64_t cycles = bench.run([](Bench& b) {
    b.push(kMac, then(score(16, 16, 8, 0, kA, kB, kMax), 0));
    b.push(kMac, then(score(16, 16, 8, 1, kA, kB, kMax + 64), 1));
    b.push(kMac, after(attend(16, 8, 16, 0, kMax, kV, kSums), 0));
    b.push(kMac, then(after(attend(16, 8, 16, 1, kMax + 64, kV, kSums + 4096), 1), 2));
    b.take(2);
  });
  EXPECT_EQ(bench.core().mac->value("busy_cycles"), 2U * (9 + 16));
  EXPECT_EQ(cycles, 2 * kPush + (8 + 9 + 45 + 1) + (5 + 16 + 30 + 9));
}

TEST(TileOps, ValuesAreArith) {
  const std::uint32_t rows = 20, keys = 30, emb = 11;
  const auto q = some_halves(rows * emb, 1), k = some_halves(keys * emb, 2), v = some_halves(keys * emb, 3);
  Bench bench(array_machine());
  std::vector<arith::Half> top(rows);
  bench.run([&](Bench& b) {
    b.set_l1(kA, q);
    b.set_l1(kB, k);
    b.set_l1(kV, v);
    b.push(kMac, then(score(rows, keys, emb, 0, kA, kB, kMax), 0));
    b.take(0);
    top = b.l1<arith::Half>(kMax, rows);
    for (std::uint32_t r = 0; r < rows; r += 3) top[r] = arith::kHalfMax;  // maxima of an earlier tile
    top[4] = arith::kHalfNan;
    b.set_l1(kMax, top);
    b.push(kMac, then(attend(rows, emb, keys, 0, kMax, kV, kSums), 0));
    b.take(0);
  });
  std::vector<arith::Half> s(rows * keys);
  std::vector<float> sums(rows * (emb + 1));
  arith::Workspace workspace;
  arith::matmul({rows, keys, emb, true}, {q.data(), emb}, {k.data(), emb}, {},
                arith::MatrixView<arith::Half>{s.data(), keys}, workspace);
  for (std::uint32_t r = 0; r < rows; ++r) {
    if (r % 3 != 0 && r != 4) {
      EXPECT_EQ(top[r], arith::row_max(&s[r * keys], keys)) << r;
    }
    sums[r * (emb + 1) + emb] = arith::exp_row(&s[r * keys], &s[r * keys], keys, top[r]);
  }
  arith::matmul({rows, emb, keys, false}, {s.data(), keys}, {v.data(), emb}, {},
                arith::MatrixView<float>{sums.data(), emb + 1}, workspace);
  const auto found = bench.l1<float>(kSums, sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (i / (emb + 1) == 4) {
      EXPECT_TRUE(std::isnan(found[i]));
    } else {
      EXPECT_EQ(found[i], sums[i]) << i / (emb + 1) << " " << i % (emb + 1);
    }
  }
}

TEST(TileOps, CountTraffic) {
  Bench bench(array_machine());
  bench.run([](Bench& b) {
    b.push(kMac, then(score(32, 20, 10, 0, kA, kB, kMax), 0));
    b.take(0);
    b.push(kMac, then(attend(32, 10, 20, 0, kMax, kV, kSums), 0));
    b.take(0);
  });
  EXPECT_EQ(bench.cluster().l1->value("read_words"), 2U * 32 * 10 + 2 * 20 * 10 + 32 + 2 * 20 * 10);
  EXPECT_EQ(bench.cluster().l1->value("write_words"), 32U + 2 * 32 * 11);
}

TEST(TileOps, ScoresTakeAddends) {
  Bench bench(array_machine());
  const std::vector<arith::Half> none(32 * 10, 0), keys(20 * 10, 0);
  std::vector<arith::Half> addends(32 * 20);
  for (std::size_t i = 0; i < addends.size(); ++i) addends[i] = arith::half_from_double(static_cast<double>(i));
  bench.run([&](Bench& b) {
    b.set_l1(kA, none);
    b.set_l1(kB, keys);
    b.set_l1(kV, addends);
    hal::Descriptor d = score(32, 20, 10, 0, kA, kB, kMax);
    d.operand[3] = {kV, 40, 20};
    d.type[3] = hal::ElementType::kFp16;
    b.push(kMac, then(d, 0));
    b.take(0);
  });
  const auto maxima = bench.l1<arith::Half>(kMax, 32);
  for (std::size_t row = 0; row < 32; ++row) EXPECT_EQ(maxima[row], addends[row * 20 + 19]) << row;
  EXPECT_EQ(bench.cluster().l1->value("read_words"), 2U * 32 * 10 + 2 * 20 * 10 + 32 * 20);
  EXPECT_EQ(bench.core().mac->value("add_ops"), 32U * 20);
}

struct TileFault {
  std::vector<hal::Descriptor> before;
  FaultCase fault;
};
void PrintTo(const TileFault& c, std::ostream* out) { *out << c.fault.name; }
class TileOpFault : public testing::TestWithParam<TileFault> {};
TEST_P(TileOpFault, IsReported) { expect_fault(array_machine(), kMac, GetParam().before, GetParam().fault); }

hal::Descriptor good_score() { return score(16, 16, 8, 0, kA, kB, kMax); }
hal::Descriptor with_stride(hal::Descriptor d, int operand, std::uint32_t bytes) {
  d.operand[operand].row_stride = bytes;
  return d;
}

const std::uint64_t kEnd = kL1 + machine().l1.size_bytes;
using F = FaultCode;
INSTANTIATE_TEST_SUITE_P(
    Cases, TileOpFault,
    testing::Values(
        TileFault{{}, {"ScoreNoKeys", F::kZeroSize, kMax, score(16, 0, 8, 0, kA, kB, kMax)}},
        TileFault{{}, {"ScoreNoDepth", F::kZeroSize, kMax, score(16, 16, 0, 0, kA, kB, kMax)}},
        TileFault{{}, {"ScoreTooLarge", F::kBadOperand, 0, score(80, 16, 8, 0, kA, kB, kMax)}},
        TileFault{{}, {"ScoreBeyondTheLastSlot", F::kBadOperand, 0, score(17, 17, 8, 1, kA, kB, kMax)}},
        TileFault{{}, {"ScoreInNoSlot", F::kBadOperand, 0, score(16, 16, 8, 4, kA, kB, kMax)}},
        TileFault{{}, {"ScoreMaximaOverK", F::kOverlap, kB + 16, score(16, 16, 8, 0, kA, kB, kB + 16)}},
        TileFault{{}, {"ScoreOddAddress", F::kMisaligned, kA + 1, score(16, 16, 8, 0, kA + 1, kB, kMax)}},
        TileFault{{}, {"ScorePastL1", F::kOutOfRange, kEnd - 16, score(16, 16, 8, 0, kA, kEnd - 16, kMax)}},
        TileFault{{good_score()}, {"AttendNoColumns", F::kZeroSize, kSums, attend(16, 0, 16, 0, kMax, kV, kSums)}},
        TileFault{{}, {"AttendNothing", F::kBadOperand, 0, attend(16, 8, 16, 0, kMax, kV, kSums)}},
        TileFault{{good_score()}, {"AttendAnEmptySlot", F::kBadOperand, 0, attend(16, 8, 16, 1, kMax, kV, kSums)}},
        TileFault{{good_score()}, {"AttendNoSlot", F::kBadOperand, 0, attend(16, 8, 16, 4, kMax, kV, kSums)}},
        TileFault{{good_score()}, {"AttendAnotherShape", F::kBadOperand, 0, attend(16, 8, 15, 0, kMax, kV, kSums)}},
        // A tile of two passes from slot 0 on takes slot 1 from the one that began there.
        TileFault{{score(16, 16, 8, 1, kA, kB, kMax), score(32, 16, 8, 0, kA, kB, kMax)},
                  {"AttendAnOverwrittenTile", F::kBadOperand, 0, attend(16, 8, 16, 1, kMax, kV, kSums)}},
        TileFault{{good_score()},
                  {"AttendSumsAtHalfAWord", F::kMisaligned, kSums + 2, attend(16, 8, 16, 0, kMax, kV, kSums + 2)}},
        TileFault{
            {good_score()},
            {"AttendSumsStride", F::kMisaligned, kSums, with_stride(attend(16, 8, 16, 0, kMax, kV, kSums), 2, 38)}},
        TileFault{{good_score()}, {"AttendSumsOverV", F::kOverlap, kV + 128, attend(16, 8, 16, 0, kMax, kV, kV + 128)}},
        TileFault{{good_score()}, {"AttendSumsOverMaxima", F::kOverlap, kMax, attend(16, 8, 16, 0, kMax, kV, kMax)}},
        TileFault{{good_score()}, {"AttendUnmapped", F::kUnmapped, 0x4000, attend(16, 8, 16, 0, kMax, 0x4000, kSums)}}),
    [](const auto& of) { return std::string(of.param.fault.name); });

TEST(TileOps, PesThatOnlyMultiplyRefuse) {
  expect_fault(machine(), kMac, {}, {"None", FaultCode::kBadOperand, 0, good_score()});
}

}  // namespace
}  // namespace attnvp::bench
