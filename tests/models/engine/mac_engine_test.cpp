// Cycle counts by hand. A matmul costs, from the doorbell on:
//   fill   the first sub-tile of A and B over the 64 B/cycle port
//   body   all sub-tiles but the last: the longer of compute and of the traffic left but the last result
//   last   the last sub-tile computes
//   drain  30 cycles of skew, then the last sub-tile's result over the port
// Compute: K cycles for every 16 x 16 outputs that a sub-tile touches. Traffic: A once per column of
// sub-tiles, B once per row of them, C once. Everything is preceded by kPush.
#include <fmt/format.h>

#include "models/arith/matmul.h"
#include "tests/models/bench.h"

namespace attnvp::bench {
namespace {

constexpr std::uint64_t kA = kL1, kB = kL1 + 0x20000, kC = kL1 + 0x40000, kPartials = kL1 + 0x60000;

std::vector<arith::Half> halves(std::size_t n, std::uint32_t seed) {
  std::vector<arith::Half> out(n);
  for (std::size_t i = 0; i < n; ++i) {
    seed = seed * 1664525 + 1013904223;
    out[i] = static_cast<arith::Half>((seed >> 16 & 0x83FF) | (0x3000 + (seed >> 8 & 3) * 0x400));
  }
  return out;
}

struct Case {
  std::uint32_t m, n, k;
  Tile tile;
  std::uint64_t cycles;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.m << " x " << c.n << " x " << c.k; }

class MatmulCycles : public testing::TestWithParam<Case> {};

TEST_P(MatmulCycles, AreTheHandCount) {
  const Case& c = GetParam();
  Bench bench;
  EXPECT_EQ(cycles_of(bench, kMac, matmul(c.m, c.n, c.k, c.tile, kA, kB, kC)), c.cycles);
  EXPECT_EQ(bench.core().mac->value("macs"), std::uint64_t{c.m} * c.n * c.k);
  EXPECT_EQ(bench.core().mac->value("descriptors"), 1U);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, MatmulCycles,
    testing::Values(
        // One pass: fill 1024 B = 16; last 16; drain 512 B = 8.
        Case{16, 16, 16, {16, 16, 16}, kPush + 16 + 0 + 16 + 30 + 8},
        // The smallest: fill 4 B = 1; last 1; drain 2 B = 1. A sub-tile larger than the matrix is the matrix.
        Case{1, 1, 1, {32, 32, 64}, kPush + 1 + 0 + 1 + 30 + 1},
        // 2x2 passes in each of 2x2x2 sub-tiles. Fill 4096 B = 64. Compute 16 passes x 64 = 1024, of which
        // the last sub-tile 4 x 32 = 128. Traffic A + B 2 x 16384 - 4096, C 8192 - 2048: 34816 B = 544 < 896.
        // Drain 2048 B.
        Case{64, 64, 64, {32, 32, 32}, kPush + 64 + 896 + 128 + 30 + 32},
        // One pass per sub-tile: A and B four times each, 2 x 32768 - 1024, C 8192 - 512: 72192 B = 1128 >
        // 1008.
        Case{64, 64, 64, {16, 16, 16}, kPush + 16 + 1128 + 16 + 30 + 8},
        // Ragged: sub-tile 20 x 32 x 10. Passes 2 x (2 + 1), x 10 = 60; last 2 x 1 x 10. Fill 400 + 640 B
        // = 16.25. Traffic 800 + 720 - 1040, C 1440 - 160: 1760 B = 27.5 < 40. Drain 20 x 4 x 2 B = 2.5.
        Case{20, 36, 10, {32, 32, 64}, kPush + 17 + 40 + 20 + 30 + 3},
        // One over: 17 rows are 2 passes of rows in one sub-tile, 33 columns 3 in two sub-tiles (32 + 1), 5
        // deep in k0 = 4 + 1. Compute 2 x 3 x 5 = 30; last sub-tile 2 x 1 x 1 = 2. Fill (17 + 32) x 4 x 2 =
        // 392 B = 6.1. Traffic A 170 x 2, B 330, less 392, C 1122 - 34: 1366 B = 21.3 < 28. Drain 34 B.
        Case{17, 33, 5, {32, 32, 4}, kPush + 7 + 28 + 2 + 30 + 1},
        // A row of scores: 1 x 512 x 64, n0 = 32. 32 passes x 64 = 2048, the last sub-tile 2 x 64 = 128. Fill
        // (1 + 32) x 64 x 2 = 4224 B = 66. Traffic A 128 x 16, B 65536, less 4224, C 1024 - 64: 64320 B =
        // 1005 < 1920.
        Case{1, 512, 64, {32, 32, 64}, kPush + 66 + 1920 + 128 + 30 + 1},
        // Sub-tiles that do not divide the array: m0 = 24 needs 2 passes of rows for every 24. 48 x 16 x 8: 4
        // passes x 8 = 32, last 16. Fill (24 + 16) x 16 = 640 B = 10. Traffic A 768, B 512 less 640, C 1536 -
        // 768: 1408 B = 22. Drain 768 B = 12.
        Case{48, 16, 8, {24, 16, 8}, kPush + 10 + 22 + 16 + 30 + 12}),
    [](const auto& of) {
      const Case& c = of.param;
      return fmt::format("{}x{}x{}Tile{}x{}x{}", c.m, c.n, c.k, c.tile.m, c.tile.n, c.tile.k);
    });

TEST(MacEngine, ASecondMatmulsFillHidesBehindTheFirst) {
  // The second's fill (64) runs while the first's last sub-tile (128) computes; the first's drain shares the
  // port with the second's body, which has room to catch up: the second adds just its compute, 1024.
  Bench bench;
  std::uint64_t first = 0;
  const std::uint64_t both = bench.run([&](Bench& b) {
    b.push(kMac, then(matmul(64, 64, 64, {32, 32, 32}, kA, kB, kC), 0));
    b.push(kMac, then(matmul(64, 64, 64, {32, 32, 32}, kA, kB, kPartials), 1));
    b.take(0);
    first = b.now();
    b.take(1);
  });
  // The first's result, 2048 B, at half the port's rate: the body asks for 34816 / 896 = 38.9 beside it,
  // gets 32.
  EXPECT_EQ(first, kPush + 64 + 896 + 128 + 30 + 64);
  EXPECT_EQ(both, kPush + 64 + 2 * 1024 + 30 + 32);
  EXPECT_EQ(bench.core().mac->value("busy_cycles"), 2 * 1024U);
  EXPECT_EQ(bench.core().mac->value("stall_cycles"), 0U);
}

TEST(MacEngine, SustainsAShareOfItsRate) {
  // At 62%: 1024 of compute become 1652, the last sub-tile's 128 become 207. Useful and idle slots stay.
  MachineConfig m = machine();
  m.mac.sustained_percent = 62;
  Bench bench(m);
  EXPECT_EQ(cycles_of(bench, kMac, matmul(64, 64, 64, {32, 32, 32}, kA, kB, kC)),
            kPush + 64 + (1652 - 207) + 207 + 30 + 32);
  EXPECT_EQ(bench.core().mac->value("busy_cycles"), 1652U);
  EXPECT_EQ(bench.core().mac->value("slots"), 1024U * 256);
}

TEST(MacEngine, RowsCrossArraysThatHoldWeights) {
  // Two arrays of 16 x 16 hold parts of B, in sub-tiles of 64 x 32 x 32: 2 x 2 parts, which 64 rows cross on two
  // arrays: 128 cycles, longer than two loads of 16. 2 x 2 sub-tiles of depth and columns: 512, the last one 128. Fill
  // (64 + 32) x 32 x 2 = 6144 B = 96. Traffic A 8192 x 2, B 8192, less 6144, C 8192 - 4096: 22528 B = 352 < 384.
  MachineConfig m = machine();
  m.mac.weight_arrays = 2;
  Bench bench(m);
  EXPECT_EQ(cycles_of(bench, kMac, matmul(64, 64, 64, {64, 32, 32}, kA, kB, kC)), kPush + 96 + 384 + 128 + 30 + 64);
  EXPECT_EQ(bench.core().mac->value("slots"), 512U * 2 * 256);
}

TEST(MacEngine, FewRowsWaitForTheLoadsOfWeights) {
  // One row, 2 x 3 parts on two arrays: three loads of 16 rows; the last sub-tile alike, as it is the only one. Fill
  // (1 + 48) x 32 x 2 = 3136 B = 49.
  MachineConfig m = machine();
  m.mac.weight_arrays = 2;
  Bench bench(m);
  EXPECT_EQ(cycles_of(bench, kMac, matmul(1, 48, 32, {16, 48, 32}, kA, kB, kC)), kPush + 49 + 48 + 30 + 2);
}

TEST(MacEngine, ShallowPartsTakeTheirLoadOfWeights) {
  MachineConfig m = machine();
  m.mac.weight_arrays = 2;
  Bench bench(m);
  EXPECT_EQ(cycles_of(bench, kMac, matmul(1, 16, 8, {16, 16, 8}, kA, kB, kC)), kPush + 5 + 8 + 30 + 1);
}

TEST(MacEngine, StallsAreWhatTrafficAddsToCompute) {
  Bench bench;
  cycles_of(bench, kMac, matmul(64, 64, 64, {16, 16, 16}, kA, kB, kC));
  EXPECT_EQ(bench.core().mac->value("busy_cycles"), 1128U + 16);
  EXPECT_EQ(bench.core().mac->value("stall_cycles"), 1128U - 1008);
}

TEST(MacEngine, CountsWordsAndSlots) {
  Bench bench;
  cycles_of(bench, kMac, matmul(20, 36, 10, {32, 32, 64}, kA, kB, kC));
  EXPECT_EQ(bench.core().mac->value("slots"), 60U * 256);
  EXPECT_EQ(bench.cluster().l1->value("read_words"), (800U + 720) / 2);
  EXPECT_EQ(bench.cluster().l1->value("write_words"), 1440U / 2);
  // Two buffers of A and B and the sums of one sub-tile: 2 x 1040 + 20 x 32 x 4.
  EXPECT_EQ(bench.core().l0->value("peak_bytes"), 2080U + 2560);
}

// C = A.B with K = 32 as two matmuls of K = 16 over FP32 partials; cycles of both. C is what one would make of it.
std::uint64_t cycles_in_two(Bench& bench, std::uint16_t flags) {
  const auto a = halves(16 * 32, 1), b = halves(32 * 16, 2);
  const std::uint64_t cycles = bench.run([&](Bench& t) {
    t.set_l1(kA, a);
    t.set_l1(kB, b);
    hal::Descriptor first = leaving_partials(matmul(16, 16, 16, {16, 16, 16}, kA, kB, kPartials));
    first.operand[0].row_stride = 64;
    first.operand[2].row_stride = 64;
    hal::Descriptor second = accumulating(matmul(16, 16, 16, {16, 16, 16}, kA + 32, kB + 16 * 32, kC), kPartials, 64);
    second.operand[0].row_stride = 64;
    first.flags |= flags;
    second.flags |= flags;
    t.push(kMac, first);
    t.push(kMac, then(second, 0));
    t.take(0);
  });
  std::vector<arith::Half> expected(16 * 16);
  arith::Workspace workspace;
  arith::matmul({16, 16, 32, false}, {a.data(), 32}, {b.data(), 16}, {},
                arith::MatrixView<arith::Half>{expected.data(), 16}, workspace);
  EXPECT_EQ(bench.l1<arith::Half>(kC, 16 * 16), expected);
  return cycles;
}

TEST(MacEngine, PartialsAccumulateBitForBit) {
  // The second reads what the first wrote: it waits for the first's drain, pushes 17 cycles later or not. First: fill
  // 16, last 16, 30, 1024 B = 16. Second: fill 512 + 512 + 1024 B = 32, last 16, 30, 512 B = 8.
  Bench bench;
  EXPECT_EQ(cycles_in_two(bench, 0), kPush + (16 + 16 + 30 + 16) + (32 + 16 + 30 + 8));
}

TEST(MacEngine, KeptPartialsPassNoPort) {
  // The sums wait in L0: the second does not wait for a drain, only its own push, 17 cycles after the first's; fill
  // 1024 B = 16 beside the first's work, last 16, 30, 512 B = 8.
  Bench bench;
  EXPECT_EQ(cycles_in_two(bench, hal::kKept), kPush + 17 + 16 + 16 + 30 + 8);
  EXPECT_EQ(bench.cluster().l1->value("read_words"), 2U * 512);
  EXPECT_EQ(bench.cluster().l1->value("write_words"), 256U);
}

TEST(MacEngine, KeptPartialsNeedTheirL0) {
  Bench bench;
  hal::Descriptor d = leaving_partials(matmul(64, 64, 10, {16, 16, 10}, kA, kB, kPartials));
  d.operand[2].row_stride = 256;
  d.flags |= hal::kKept;
  cycles_of(bench, kMac, d);
  // Two buffers of A and B of a sub-tile, and all sums.
  EXPECT_EQ(bench.core().l0->value("peak_bytes"), 2U * (16 + 16) * 10 * 2 + 64 * 64 * 4);
}

TEST(MacEngine, PartialsInPlace) {
  // The partials may be C itself: 3 terms in place, then the FP16 result elsewhere.
  Bench bench;
  const auto a = halves(20 * 40, 3), b = halves(40 * 12, 4);
  bench.run([&](Bench& t) {
    t.set_l1(kA, a);
    t.set_l1(kB, b);
    for (std::uint32_t i = 0; i < 4; ++i) {
      hal::Descriptor d = matmul(20, 12, 10, {16, 16, 16}, kA + i * 20, kB + i * 10 * 24, i < 3 ? kPartials : kC);
      d.operand[0].row_stride = 80;
      if (i < 3) d = leaving_partials(d);
      if (i < 3) d.operand[2].row_stride = 48;
      if (i > 0) d = accumulating(d, kPartials, 48);
      t.push(kMac, i == 3 ? then(d, 0) : d);
    }
    t.take(0);
  });
  std::vector<arith::Half> expected(20 * 12);
  arith::Workspace workspace;
  arith::matmul({20, 12, 40, false}, {a.data(), 40}, {b.data(), 12}, {},
                arith::MatrixView<arith::Half>{expected.data(), 12}, workspace);
  EXPECT_EQ(bench.l1<arith::Half>(kC, 20 * 12), expected);
}

TEST(MacEngine, TransposedBWithStrides) {
  // C = A.B^T; rows apart in all three, and what lies between the rows of C stays as it was.
  Bench bench;
  const std::uint32_t m = 18, n = 7, k = 9;
  const auto a = halves(m * 16, 5), b = halves(n * 12, 6);
  const std::vector<arith::Half> guard(m * 10, 0x1234);
  const std::uint64_t cycles = bench.run([&](Bench& t) {
    t.set_l1(kA, a);
    t.set_l1(kB, b);
    t.set_l1(kC, guard);
    hal::Descriptor d = matmul(m, n, k, {16, 16, 64}, kA, kB, kC);
    d.flags = hal::kTransposeB;
    d.operand[1].columns = k;
    d.operand[0].row_stride = 32;
    d.operand[1].row_stride = 24;
    d.operand[2].row_stride = 20;
    t.push(kMac, then(d, 0));
    t.take(0);
  });
  // Sub-tiles 16 + 2 rows: fill (16 + 7) x 9 x 2 = 414 B = 6.5; compute 9 + 9, last 9. Traffic A 324, B 126 x
  // 2, less 414, C 252 - 28: 386 B = 6.03 < 9. Drain 28 B.
  EXPECT_EQ(cycles, kPush + 7 + 9 + 9 + 30 + 1);
  std::vector<arith::Half> expected = guard;
  arith::Workspace workspace;
  arith::matmul({m, n, k, true}, {a.data(), 16}, {b.data(), 12}, {},
                arith::MatrixView<arith::Half>{expected.data(), 10}, workspace);
  EXPECT_EQ(bench.l1<arith::Half>(kC, m * 10), expected);
}

TEST(MacEngine, AbsentRowsOfBAreZeros) {
  for (const bool transposed : {false, true}) {
    const std::uint32_t m = 18, n = 8, k = 9, absent = 3, rows = transposed ? n : k, columns = transposed ? k : n;
    Bench bench;
    const auto a = halves(m * k, 5);
    auto b = halves(rows * columns, 6);
    std::fill(b.end() - absent * columns, b.end(), arith::Half{0x7E00});  // NaN
    std::uint64_t cycles[2];
    for (const std::uint16_t these : {std::uint16_t{0}, static_cast<std::uint16_t>(absent)}) {
      cycles[these == 0 ? 0 : 1] = bench.run([&](Bench& t) {
        t.set_l1(kA, a);
        t.set_l1(kB, b);
        hal::Descriptor d = matmul(m, n, k, {16, 16, 64}, kA, kB, kC);
        if (transposed) d.flags = hal::kTransposeB;
        d.operand[1] = {kB, 2 * columns, columns};
        d.tail.matmul.absent = these;
        t.push(kMac, then(d, 0));
        t.take(0);
      });
    }
    EXPECT_EQ(cycles[0], cycles[1]);
    std::fill(b.end() - absent * columns, b.end(), arith::Half{0});
    std::vector<arith::Half> expected(m * n);
    arith::Workspace workspace;
    arith::matmul({m, n, k, transposed}, {a.data(), k}, {b.data(), columns}, {},
                  arith::MatrixView<arith::Half>{expected.data(), n}, workspace);
    EXPECT_EQ(bench.l1<arith::Half>(kC, m * n), expected);
  }
}

// Scores of 20 x 36 with addends, the last 4 keys absent: what arith makes of them in FP32, with 4 cycles more and
// so many words more over the port.
TEST(MacEngine, AddendsAreAddedBeforeRounding) {
  const std::uint32_t m = 20, n = 36, k = 10, absent = 4, stride = 80;
  const auto a = halves(m * k, 5), b = halves(n * k, 6), addends = halves(m * stride / 2, 7);
  std::uint64_t words[2], cycles[2], ops[2];
  for (const bool with : {false, true}) {
    Bench bench;
    cycles[with ? 1 : 0] = bench.run([&](Bench& t) {
      t.set_l1(kA, a);
      t.set_l1(kB, b);
      t.set_l1(kPartials, addends);
      hal::Descriptor d = matmul(m, n, k, {32, 64, 64}, kA, kB, kC);
      d.flags = hal::kTransposeB;
      d.operand[1] = {kB, 2 * k, k};
      d.tail.matmul.absent = absent;
      if (with) {
        d.operand[3] = {kPartials, stride, n};
        d.type[3] = hal::ElementType::kFp16;
      }
      t.push(kMac, then(d, 0));
      t.take(0);
    });
    words[with ? 1 : 0] = bench.cluster().l1->value("read_words");
    ops[with ? 1 : 0] = bench.core().mac->value("add_ops");
    if (!with) continue;
    const auto c = bench.l1<arith::Half>(kC, m * n);
    for (std::uint32_t i = 0; i < m; ++i) {
      for (std::uint32_t j = 0; j < n; ++j) {
        float sum = 0;
        for (std::uint32_t e = 0; j < n - absent && e < k; ++e) {
          sum += arith::float_from_half(a[i * k + e]) * arith::float_from_half(b[j * k + e]);
        }
        if (j < n - absent) sum += arith::float_from_half(addends[i * stride / 2 + j]);
        EXPECT_EQ(c[i * n + j], arith::half_from_float(sum)) << i << ", " << j;
      }
    }
  }
  EXPECT_EQ(words[1], words[0] + m * (n - absent));
  EXPECT_EQ(ops[1], ops[0] + m * n);
  EXPECT_GT(cycles[1], cycles[0]);
}

TEST(MacEngine, TwoEnginesShareOnePort) {
  // Both matmuls start at the same cycle, released by one NOP of the VEC engine. Alone: fill 16, last 16, 30,
  // drain 8. On one port every transfer meets the other engine's: twice as long. On two ports nothing
  // changes.
  for (const std::uint32_t ports : {1U, 5U}) {
    MachineConfig m = machine();
    m.cores = 2;
    m.l1.ports = ports;
    Bench bench(m);
    std::uint64_t released = 0;
    const std::uint64_t cycles = bench.run([&](Bench& b) {
      b.push(kMac, then(after(matmul(16, 16, 16, {16, 16, 16}, kA, kB, kC), 0), 2));
      b.push(hal::mac_base(0, 1), then(after(matmul(16, 16, 16, {16, 16, 16}, kA, kB, kPartials), 1), 2));
      b.push(kVec, then(nop(), 0, 1, 2));
      released = b.now();
      b.take(2, 2);
    });
    EXPECT_EQ(cycles - released, ports == 1 ? 32U + 16 + 30 + 16 : 16U + 16 + 30 + 8) << ports << " ports";
  }
}

TEST(MacEngine, TimingModeTakesTheSameCycles) {
  Bench bench(machine(), false);
  EXPECT_EQ(cycles_of(bench, kMac, matmul(64, 64, 64, {16, 16, 16}, kA, kB, kC)), kPush + 16 + 1128 + 16 + 30 + 8);
}

}  // namespace
}  // namespace attnvp::bench
