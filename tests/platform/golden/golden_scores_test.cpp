// The golden check at scores of all magnitudes that FP16 has, and beyond: it takes what the machine computes, and what
// is right, and refuses what is wrong.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/platform/golden/golden_machine.h"

namespace attnvp::job {
namespace {

const AttentionShape kShape{1, 2, 40, 129, 32};
constexpr double kMagnitudes[] = {1e-3, 1e-2, 0.1, 1, 10, 30, 100, 300, 1e3, 3e3, 1e4, 3e4, 1e5};

// Scores of that standard deviation, by Q and K alike, so that 1e5 is within reach.
AttentionTensors of_magnitude(const AttentionShape& s, double magnitude, std::uint64_t seed) {
  const double root = std::sqrt(magnitude / std::sqrt(static_cast<double>(s.width)));
  return {random_tensor(3 * seed, s.query_elements(), root), random_tensor(3 * seed + 1, s.key_elements(), root),
          random_tensor(3 * seed + 2, s.key_elements(), 1)};
}

std::vector<double> reference(const AttentionShape& s, const AttentionTensors& t) {
  return reference_attention(s, t.q.data(), t.k.data(), t.v.data());
}

// What double precision has, rounded once.
std::vector<Half> right(const AttentionShape& s, const AttentionTensors& t) {
  std::vector<Half> out;
  for (const double x : reference(s, t)) out.push_back(arith::half_from_double(x));
  return out;
}

// Rows of the first head whose greatest score leads by more than FP16's rounding of it can be off.
std::vector<std::size_t> decided_rows(const AttentionShape& s, const AttentionTensors& t) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < s.queries; ++i) {
    std::vector<double> scores(s.keys);
    for (std::size_t j = 0; j < s.keys; ++j) {
      for (std::size_t d = 0; d < s.width; ++d) {
        scores[j] += arith::double_from_half(t.q[i * s.width + d]) * arith::double_from_half(t.k[j * s.width + d]);
      }
    }
    std::sort(scores.rbegin(), scores.rend());
    if (scores[0] - scores[1] > 20 + std::abs(scores[0]) * 0x1p-8) rows.push_back(i);
  }
  return rows;
}

// Of all elements only those may fail that overflow leaves without a number.
void expect_machines(const AttentionShape& s, const AttentionTensors& t, std::vector<Half> out, std::size_t tile) {
  std::size_t none = 0;
  const std::vector<Half> instead = right(s, t);
  const GoldenResult result = check(s, t, out, tile);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (arith::is_finite(out[i])) continue;
    ++none;
    out[i] = instead[i];
  }
  EXPECT_EQ(result.failures, none) << result.to_string();
  EXPECT_EQ(result.rows_of_score_overflow, none / s.width);
  EXPECT_EQ(result.passed, none == 0);
  EXPECT_TRUE(check(s, t, out, tile).passed);
}

class GoldenScores : public testing::TestWithParam<double> {};

TEST_P(GoldenScores, AcceptsTheMachinesResults) {
  for (const AttentionShape& s : {kShape, AttentionShape{1, 1, 20, 7, 128}, AttentionShape{1, 1, 6, 2000, 64}}) {
    for (const std::uint64_t seed : {1, 2}) {
      const AttentionTensors t = of_magnitude(s, GetParam(), seed);
      expect_machines(s, t, machine(s, t), 0);
      for (const std::size_t tile : {std::size_t{1}, std::size_t{16}, s.keys}) {
        expect_machines(s, t, one_pass(s, t, tile), tile);
      }
    }
  }
}

// All keys lead by turns: their scores are alike but for what rounding to FP16 takes away.
TEST_P(GoldenScores, AcceptsTheMachinesResultsOfTies) {
  const AttentionShape s{1, 1, 30, 60, 64};
  AttentionTensors t = of_magnitude(s, GetParam(), 3);
  for (std::size_t j = 0; j < s.keys; ++j) {
    for (std::size_t d = 0; d < s.width; ++d) {
      const double same = arith::double_from_half(t.k[d]), own = arith::double_from_half(t.v[j * s.width + d]);
      t.k[j * s.width + d] = arith::half_from_double(same * (1 + own * 0x1p-9));
    }
  }
  expect_machines(s, t, machine(s, t), 0);
  for (const std::size_t tile : {std::size_t{1}, std::size_t{16}, s.keys}) {
    expect_machines(s, t, one_pass(s, t, tile), tile);
  }
}

TEST_P(GoldenScores, RejectsZerosAndSwappedRows) {
  for (const std::size_t tile : {0, 16}) {
    const AttentionTensors t = of_magnitude(kShape, GetParam(), 4);
    const std::vector<Half> good = right(kShape, t);
    EXPECT_TRUE(check(kShape, t, good, tile).passed);
    const GoldenResult zeros = check(kShape, t, std::vector<Half>(good.size(), 0), tile);
    EXPECT_GT(zeros.failures, good.size() / 4) << zeros.to_string();
    if (GetParam() < 1) continue;  // rows are alike within FP16
    std::vector<Half> swapped = good;
    std::swap_ranges(swapped.begin(), swapped.begin() + 32, swapped.begin() + 32);
    EXPECT_FALSE(check(kShape, t, swapped, tile).passed);
  }
}

TEST_P(GoldenScores, RejectsOneWrongElement) {
  const AttentionTensors t = of_magnitude(kShape, GetParam(), 5);
  const std::vector<Half> good = right(kShape, t);
  const auto fails = [&](std::size_t row, double off, std::size_t tile) {
    std::vector<Half> out = good;
    Half& x = out[row * kShape.width + 7];
    x = arith::half_from_double(arith::double_from_half(x) + off);
    const GoldenResult result = check(kShape, t, out, tile);
    return !result.passed && result.failures == 1 && result.row == row && result.column == 7;
  };
  for (const std::size_t tile : {0, 16}) {
    // Values are of the order of 1; no row can be off by more than they differ.
    for (std::size_t row = 0; row < kShape.queries; ++row) {
      EXPECT_TRUE(fails(row, 10, tile));
      EXPECT_TRUE(fails(row, -10, tile));
      if (GetParam() <= 10) {
        EXPECT_TRUE(fails(row, 0.1, tile)) << row;
      }
    }
    const std::vector<std::size_t> decided = decided_rows(kShape, t);
    if (GetParam() >= 300) {
      EXPECT_GT(decided.size(), kShape.queries / 2);
    }
    for (const std::size_t row : decided) {
      const double x = arith::double_from_half(good[row * kShape.width + 7]);
      EXPECT_TRUE(fails(row, 0.02 * std::abs(x) + 0.001, tile)) << row;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Magnitudes, GoldenScores, testing::ValuesIn(kMagnitudes),
                         [](const auto& of) { return "Magnitude" + std::to_string(of.index); });

// One key leads by 317 and more: O is its value. flashinfer-ai/flashinfer#4267 has such rows as zeros.
TEST(GoldenLargeScores, OneLeadingKeyIsTheResult) {
  const AttentionShape s{1, 1, 4, 64, 128, {}, static_cast<float>(1 / std::sqrt(128.0))};
  for (const int first : {120, 1000}) {
    AttentionTensors t{std::vector<Half>(s.query_elements(), 0), std::vector<Half>(s.key_elements(), 0),
                       random_tensor(1, s.key_elements(), 1)};
    for (std::size_t i = 0; i < s.queries; ++i) t.q[i * s.width] = arith::half_from_float(448);
    for (std::size_t j = 0; j < s.keys; ++j) {
      t.k[j * s.width] = arith::half_from_float(-static_cast<float>(8 * j) - static_cast<float>(first));
    }
    std::vector<Half> o;
    for (std::size_t i = 0; i < s.queries; ++i) o.insert(o.end(), t.v.begin(), t.v.begin() + 128);
    const GoldenResult result = check(s, t, o);
    EXPECT_TRUE(result.passed) << result.to_string();
    EXPECT_EQ(result.max_abs_error, 0);
    for (const float wrong : {0.0F, 1000.0F}) {
      EXPECT_FALSE(check(s, t, std::vector<Half>(o.size(), arith::half_from_float(wrong))).passed) << first;
    }
    o[130] = arith::half_from_double(arith::double_from_half(o[130]) * 1.01 + 0.001);
    EXPECT_EQ(check(s, t, o).failures, 1U);
  }
}

// Where rounding decides which key leads, the result is between the values of those that may.
TEST(GoldenLargeScores, TiesStayWithinTheirValues) {
  const AttentionShape s{1, 1, 5, 16, 8};
  AttentionTensors t = of_magnitude(s, 1, 6);
  for (Half& x : t.q) x = arith::half_from_float(64);
  for (Half& x : t.k) x = arith::half_from_float(64);
  for (std::size_t j = 8; j < s.keys; ++j) t.k[j * s.width] = arith::half_from_float(-64);  // these trail
  for (std::size_t j = 0; j < s.keys; ++j) {
    for (std::size_t d = 0; d < s.width; ++d) {
      t.v[j * s.width + d] = arith::half_from_float(j < 8 ? 1 + static_cast<float>(j) / 8 : -100);
    }
  }
  const auto passes = [&](float all) {
    return check(s, t, std::vector<Half>(s.query_elements(), arith::half_from_float(all))).passed;
  };
  EXPECT_TRUE(passes(1));
  EXPECT_TRUE(passes(1.4375F));  // what it is
  EXPECT_TRUE(passes(1.875F));
  EXPECT_FALSE(passes(0));
  EXPECT_FALSE(passes(0.98F));
  EXPECT_FALSE(passes(1.9F));
}

}  // namespace
}  // namespace attnvp::job
