// Masked softmax, of whole rows and one-pass: every row as if it held only what it sees, zeros elsewhere, and time for
// no more than that.
#include "models/arith/softmax.h"
#include "tests/models/engine/online_ops.h"

namespace attnvp::bench {
namespace {

constexpr std::uint64_t kS = kL1, kP = kL1 + 0x20000, kM = kL1 + 0x40000, kTile = kL1 + 0x41000;
constexpr std::uint32_t kRows = 9, kColumns = 70;

hal::Descriptor masked(hal::Descriptor d, const hal::Mask& mask, std::uint32_t row, std::uint32_t key) {
  d.flags |= hal::kMasked;
  d.length = hal::length_with(d.flags);
  d.tail.rule.mask = mask;
  d.tail.rule.row = row;
  d.tail.rule.key = key;
  return d;
}

hal::Mask causal(std::uint32_t queries, std::uint32_t history, std::uint32_t window = 0, std::uint32_t sinks = 0) {
  hal::Mask m{};
  m.causal = 1;
  m.queries = queries;
  m.history = history;
  m.window = window;
  m.sinks = sinks;
  return m;
}

// Columns of a row, counted from key `key`, that row sees.
std::vector<std::uint32_t> seen(const hal::Mask& m, std::uint32_t row, std::uint32_t key) {
  std::vector<std::uint32_t> columns;
  for (std::uint32_t j = 0; j < kColumns; ++j) {
    const std::uint32_t p = m.history + row % m.queries, k = key + j;
    if (k <= p && (m.window == 0 || p - k < m.window || k < m.sinks)) columns.push_back(j);
  }
  return columns;
}

struct Case {
  const char* name;
  hal::Mask mask;
  std::uint32_t row, key;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
class MaskedRows : public testing::TestWithParam<Case> {};

TEST_P(MaskedRows, AreRowsOfWhatTheySee) {
  const Case& c = GetParam();
  const std::vector<arith::Half> scores = some_halves(kRows * kColumns, 3);
  for (const std::uint64_t l0 : {64ULL << 10, 256ULL}) {
    MachineConfig m = machine();
    m.l0.size_bytes = l0;
    Bench bench(m);
    bench.run([&](Bench& b) {
      b.set_l1(kS, scores);
      b.push(kVec, then(masked(softmax(kRows, kColumns, kS, kP), c.mask, c.row, c.key), 0));
      b.push(kVec, then(masked(online(hal::Opcode::kOnlineSoftmax, kRows, kColumns, hal::kFirst,
                                      {{kS, 2 * kColumns}, {kS, 2 * kColumns}, {kM, 2}, {kTile, 8}}),
                               c.mask, c.row, c.key),
                        0));
      b.take(0);
      b.take(0);
    });
    ASSERT_FALSE(bench.faults().any());
    const auto p = bench.l1<arith::Half>(kP, kRows * kColumns), e = bench.l1<arith::Half>(kS, kRows * kColumns);
    const auto tile = bench.l1<float>(kTile, 2 * kRows);
    std::uint64_t elements = 0;
    for (std::uint32_t r = 0; r < kRows; ++r) {
      std::vector<arith::Half> row, expected(kColumns, 0), exponentials(kColumns, 0);
      const std::vector<std::uint32_t> columns = seen(c.mask, c.row + r, c.key);
      elements += columns.size();
      for (const std::uint32_t j : columns) row.push_back(scores[r * kColumns + j]);
      std::vector<arith::Half> out(row.size());
      float sum = 0;
      if (!row.empty()) {
        arith::softmax_row_reference(row.data(), out.data(), row.size());
        for (std::size_t i = 0; i < row.size(); ++i) expected[columns[i]] = out[i];
        sum = arith::exp_row(row.data(), out.data(), row.size(), arith::row_max(row.data(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) exponentials[columns[i]] = out[i];
      }
      EXPECT_EQ(std::vector<arith::Half>(p.begin() + r * kColumns, p.begin() + (r + 1) * kColumns), expected) << r;
      EXPECT_EQ(std::vector<arith::Half>(e.begin() + r * kColumns, e.begin() + (r + 1) * kColumns), exponentials) << r;
      EXPECT_EQ(tile[2 * r], sum) << r;
    }
    EXPECT_EQ(bench.core().vec->value("elements"), elements);
    EXPECT_EQ(bench.core().vec->value("lane_ops"), elements * 32);
    EXPECT_EQ(bench.core().vec->value("add_ops"), 2 * elements + kRows);
    EXPECT_EQ(bench.cluster().l1->value("write_words"), 2 * kRows * kColumns + kRows + 4 * kRows);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Masks, MaskedRows,
    testing::Values(Case{"Diagonal", causal(64, 0), 5, 0}, Case{"TileOnTheDiagonal", causal(200, 0), 100, 64},
                    Case{"SomeRowsSeeNothing", causal(200, 0), 100, 104}, Case{"Window", causal(200, 7, 20), 100, 70},
                    Case{"WindowAndSinks", causal(200, 7, 20, 4), 30, 0}, Case{"GroupedQueries", causal(4, 50), 2, 0}),
    [](const auto& of) { return std::string(of.param.name); });

// A row takes its visible columns' time: 8 x 32 / 256 cycles more from row to row.
TEST(MaskedRow, TakesTheTimeOfWhatItSees) {
  const auto cycles_of = [](const hal::Descriptor& d) {
    Bench bench;
    return bench::cycles_of(bench, kVec, d);
  };
  const std::uint64_t all = cycles_of(softmax(64, 512, kS, kP));
  const std::uint64_t some = cycles_of(masked(softmax(64, 512, kS, kP), causal(512, 0), 192, 0));
  // Rows see 193 to 256 columns: 64 x 64 cycles become 32 each of 25, 26, ... eights, rounded up.
  std::uint64_t cycles = 0;
  for (std::uint32_t row = 0; row < 64; ++row) cycles += (193 + row + 7) / 8;
  EXPECT_EQ(all - some,
            64 * 64 - cycles + (16 - 7) - 5);  // the fill: 16 words of 64 bytes, or 7; a longer descriptor: 5
}

// Lanes that compute masked elements: the time and the work of rows without a mask; a longer descriptor: 5 cycles.
TEST(MaskedRow, TakesTheTimeOfAllColumnsIfLanesComputeThem) {
  const auto cost_of = [](const hal::Descriptor& d) {
    MachineConfig m = machine();
    m.vec.computes_masked = true;
    Bench bench(m);
    std::vector<std::uint64_t> cost = {cycles_of(bench, kVec, d)};
    for (const char* counter : {"elements", "lane_ops", "exp_ops"}) {
      cost.push_back(bench.core().vec->value(counter));
    }
    return cost;
  };
  const hal::Descriptor one_pass =
      online(hal::Opcode::kOnlineSoftmax, 64, 512, hal::kFirst, {{kS, 1024}, {kS, 1024}, {kM, 2}, {kTile, 8}});
  for (const hal::Descriptor& d : {softmax(64, 512, kS, kP), one_pass}) {
    std::vector<std::uint64_t> expected = cost_of(d);
    expected[0] += 5;
    EXPECT_EQ(cost_of(masked(d, causal(512, 0), 192, 0)), expected);
  }
}

TEST(MaskedRow, IsRefusedWithoutItsMask) {
  hal::Descriptor shorter = masked(softmax(4, 16, kS, kP), causal(4, 0), 0, 0);
  shorter.length = 128;
  expect_fault(machine(), kVec, {}, {"length", FaultCode::kBadLength, 0, shorter});
  expect_fault(machine(), kVec, {}, {"no rule", FaultCode::kBadOperand, kS, masked(softmax(4, 16, kS, kP), {}, 0, 0)});
}

}  // namespace
}  // namespace attnvp::bench
