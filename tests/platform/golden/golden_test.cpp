#include "platform/run/golden/golden.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "models/arith/isa.h"
#include "tests/platform/golden/golden_machine.h"

namespace attnvp::job {
namespace {

const AttentionShape kShape{2, 3, 70, 129, 32};

TEST(RandomTensors, BytesAreFixed) {
  std::uint64_t hash = 0xCBF29CE484222325U;  // FNV-1a
  for (const Half h : random_tensor(42, 10000, 0.5)) hash = (hash ^ h) * 0x100000001B3U;
  EXPECT_EQ(hash, 0xC4A6A4BCE7E0E8C9U);
  EXPECT_EQ(random_half(42, 77, 0.5), random_tensor(42, 100, 0.5)[77]);
}

TEST(RandomTensors, LookNormal) {
  const std::vector<Half> tensor = random_tensor(1, 200000, 2.0);
  double sum = 0.0, squares = 0.0, within = 0.0;
  for (const Half h : tensor) {
    const double x = arith::double_from_half(h);
    sum += x;
    squares += x * x;
    if (std::abs(x) < 2.0) within += 1.0;
  }
  const auto n = static_cast<double>(tensor.size());
  EXPECT_NEAR(sum / n, 0.0, 0.02);
  EXPECT_NEAR(std::sqrt(squares / n), 2.0, 0.02);
  EXPECT_NEAR(within / n, 0.6827, 0.01);
}

TEST(RandomTensors, ScoresHaveTheSpread) {
  const AttentionShape s{1, 1, 200, 200, 64};
  const AttentionTensors t = random_attention(s, 9, 3.0);
  double squares = 0.0;
  for (std::size_t i = 0; i < s.queries; ++i) {
    double score = 0.0;
    for (std::size_t e = 0; e < s.width; ++e) {
      const double k = arith::double_from_half(t.k[((i * 7) % s.keys) * s.width + e]);
      score += arith::double_from_half(t.q[i * s.width + e]) * k;
    }
    squares += score * score;
  }
  EXPECT_NEAR(std::sqrt(squares / static_cast<double>(s.queries)), 3.0, 0.6);
}

TEST(Golden, ReferenceOfASmallCaseByHand) {
  // Scores 0 and ln 3 (as the nearest half): probabilities of about 1/4 and 3/4.
  const AttentionShape s{1, 1, 1, 2, 1};
  const Half one = arith::kHalfOne, ln3 = arith::half_from_double(std::log(3.0));
  const std::vector<Half> q{one}, k{0, ln3}, v{arith::half_from_float(8.0F), arith::half_from_float(-4.0F)};
  const std::vector<double> o = reference_attention(s, q.data(), k.data(), v.data());
  const double p = 1.0 / (1.0 + std::exp(arith::double_from_half(ln3)));
  EXPECT_NEAR(o[0], 8.0 * p - 4.0 * (1.0 - p), 1e-12);
}

TEST(Golden, PassesOnTheMachinesArithmetic) {
  for (const AttentionShape& s :
       {kShape, AttentionShape{1, 1, 1, 1, 1}, AttentionShape{1, 2, 5, 3000, 64}, AttentionShape{1, 1, 64, 7, 128}}) {
    for (const double spread : {0.0, 0.1, 2.0, 8.0, 100.0, 3000.0}) {
      const AttentionTensors t = random_attention(s, 5, spread);
      const GoldenResult result = check(s, t, machine(s, t));
      EXPECT_TRUE(result.passed) << "spread " << spread << ": " << result.to_string();
      EXPECT_TRUE(std::isfinite(result.max_abs_error));
    }
  }
}

TEST(Golden, PassesOnOnePassArithmetic) {
  for (const AttentionShape& s :
       {kShape, AttentionShape{1, 1, 1, 1, 1}, AttentionShape{1, 2, 5, 3000, 64}, AttentionShape{1, 1, 64, 7, 128}}) {
    for (const double spread : {0.0, 0.1, 2.0, 8.0, 100.0, 3000.0}) {
      const AttentionTensors t = random_attention(s, 5, spread);
      for (const std::size_t tile : {std::size_t{1}, std::size_t{16}, std::size_t{100}, s.keys}) {
        const GoldenResult result = check(s, t, one_pass(s, t, tile), tile);
        EXPECT_TRUE(result.passed) << "spread " << spread << ", tile " << tile << ": " << result.to_string();
      }
    }
  }
}

// The rows' greatest score moves by a few units from tile to tile: one scale forgotten in one row shows, and one tile.
TEST(Golden, FindsOnePassMistakes) {
  const AttentionTensors t = random_attention(kShape, 5);
  for (const Mistake mistake : {Mistake::kNeverScaled, Mistake::kOnceUnscaled, Mistake::kLostTile}) {
    const GoldenResult result = check(kShape, t, one_pass(kShape, t, 32, mistake), 32);
    EXPECT_FALSE(result.passed);
    if (mistake != Mistake::kNeverScaled) {
      EXPECT_LE(result.failures, kShape.width);
      EXPECT_EQ(result.row, kMistakenRow);
    }
  }
}

// Not much more than what softmax of whole rows is allowed.
TEST(Golden, OnePassToleranceIsUseful) {
  const AttentionTensors t = random_attention(kShape, 5, 1.0);
  const GoldenResult whole = check(kShape, t, machine(kShape, t));
  const GoldenResult result = check(kShape, t, one_pass(kShape, t, 16), 16);
  EXPECT_TRUE(result.passed);
  EXPECT_LT(result.tolerance, 1.5 * whole.tolerance);
}

TEST(Golden, ToleranceIsUseful) {
  const AttentionTensors t = random_attention(kShape, 5, 1.0);
  const GoldenResult result = check(kShape, t, machine(kShape, t));
  EXPECT_LT(result.tolerance, 0.02);  // outputs are of the order of 0.1 .. 1
  EXPECT_GT(std::abs(result.expected - result.actual), 0.1 * result.tolerance);
}

TEST(Golden, FindsOneWrongElement) {
  const AttentionTensors t = random_attention(kShape, 6);
  std::vector<Half> out = machine(kShape, t);
  const std::size_t at = ((1 * 3 + 2) * 70 + 41) * 32 + 17;
  out[at] = arith::half_from_double(arith::double_from_half(out[at]) + 0.05);
  const GoldenResult result = check(kShape, t, out);
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.failures, 1U);
  EXPECT_EQ(result.batch, 1U);
  EXPECT_EQ(result.head, 2U);
  EXPECT_EQ(result.row, 41U);
  EXPECT_EQ(result.column, 17U);
  EXPECT_NEAR(result.max_abs_error, 0.05, 0.01);
  EXPECT_GT(std::abs(result.actual - result.expected), result.tolerance);
  for (const Half wrong : {arith::kHalfNan, arith::kHalfInfinity}) {
    out[at] = wrong;
    EXPECT_FALSE(check(kShape, t, out).passed);
  }
}

TEST(Golden, FailsOnSwappedRowsAndOnZeros) {
  const AttentionTensors t = random_attention(kShape, 7);
  const std::vector<Half> right = machine(kShape, t);
  std::vector<Half> swapped = right;
  std::swap_ranges(swapped.begin(), swapped.begin() + 32, swapped.begin() + 32);
  EXPECT_FALSE(check(kShape, t, swapped).passed);
  EXPECT_FALSE(check(kShape, t, std::vector<Half>(right.size(), 0)).passed);
}

TEST(Golden, FailsWhenAnOperandIsWrong) {
  const AttentionTensors t = random_attention(kShape, 8);
  AttentionTensors wrong = t;
  std::swap_ranges(wrong.k.begin(), wrong.k.begin() + 32,
                   wrong.k.begin() + 32);  // two keys of the first head
  EXPECT_FALSE(check(kShape, t, machine(kShape, wrong)).passed);
}

TEST(Golden, SpecialValues) {
  const AttentionShape s{1, 1, 8, 20, 16};
  const auto agrees = [&](const AttentionTensors& t) {
    std::vector<Half> out = machine(s, t);
    const GoldenResult result = check(s, t, out);
    EXPECT_TRUE(result.passed) << result.to_string();
    return out;
  };
  const auto fails = [&](const AttentionTensors& t, std::vector<Half> out, std::size_t at, Half value) {
    out[at] = value;
    return !check(s, t, out).passed;
  };
  const Half big = arith::kHalfMax, inf = arith::kHalfInfinity;
  const AttentionTensors plain = random_attention(s, 10);

  AttentionTensors t = plain;
  t.q[3 * 16] = arith::kHalfNan;
  std::vector<Half> out = agrees(t);
  EXPECT_TRUE(arith::is_nan(out[3 * 16 + 5]));
  EXPECT_TRUE(fails(t, out, 3 * 16 + 5, 0));

  t = plain;
  t.v[7 * 16 + 2] = inf;
  out = agrees(t);
  EXPECT_TRUE(fails(t, out, 2, 0));

  t = plain;  // keys that row 0 does not see
  AttentionShape causal = s;
  causal.mask = {1, 0, 0, 8, 0, 0, 0, 0};
  t.v[1 * 16 + 2] = inf;
  const std::vector<double> reference = reference_attention(causal, t.q.data(), t.k.data(), t.v.data());
  EXPECT_TRUE(std::isfinite(reference[2]));
  EXPECT_TRUE(std::isnan(reference[16 + 2]));

  t = plain;  // key 4 has score -inf in every row, and is left out
  for (std::size_t i = 0; i < s.queries; ++i) t.q[i * 16] = big;
  for (std::size_t j = 0; j < s.keys; ++j) t.k[j * 16] = 0;
  t.k[4 * 16] = big | arith::kHalfSign;
  out = agrees(t);
  EXPECT_TRUE(arith::is_finite(out[0]));
}

// A NaN that overflow of FP16 makes is a failure, and the sentence names the rows; so is an infinity.
TEST(Golden, NamesOverflowOfFp16) {
  const AttentionShape s{1, 1, 8, 20, 16};
  const AttentionTensors plain = random_attention(s, 10);
  const Half big = arith::kHalfMax;
  const auto right = [&](const AttentionTensors& t) {
    std::vector<Half> out;
    for (const double x : reference_attention(s, t.q.data(), t.k.data(), t.v.data())) {
      EXPECT_TRUE(std::isfinite(x));
      out.push_back(arith::half_from_double(x));
    }
    return out;
  };

  AttentionTensors t = plain;  // row 0: scores of both signs beyond FP16
  std::fill(t.q.begin(), t.q.begin() + 16, big);
  std::vector<Half> out = machine(s, t);
  EXPECT_TRUE(arith::is_nan(out[0]));
  GoldenResult result = check(s, t, out);
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.failures, s.width);
  EXPECT_EQ(result.rows_of_score_overflow, 1U);
  EXPECT_NE(result.to_string().find("scores overflow FP16 in 1 of 8 rows"), std::string::npos) << result.to_string();
  EXPECT_TRUE(check(s, t, right(t)).passed);

  t = plain;  // nothing but -inf
  for (std::size_t i = 0; i < s.queries; ++i) t.q[i * 16] = big;
  for (std::size_t j = 0; j < s.keys; ++j) t.k[j * 16] = big | arith::kHalfSign;
  out = machine(s, t);
  EXPECT_TRUE(arith::is_nan(out[0]));
  EXPECT_EQ(check(s, t, out).rows_of_score_overflow, s.queries);
  EXPECT_TRUE(check(s, t, right(t)).passed);

  t = plain;
  std::fill(t.v.begin(), t.v.end(), big);
  out = right(t);
  EXPECT_TRUE(check(s, t, out).passed);
  out[5] = arith::kHalfInfinity;
  result = check(s, t, out);
  EXPECT_EQ(result.failures, 1U);
  EXPECT_NE(result.to_string().find("results overflow FP16 in 1 of 8 rows"), std::string::npos) << result.to_string();
  out[5] = arith::kHalfInfinity | arith::kHalfSign;
  EXPECT_FALSE(check(s, t, out).passed);
}

// Whatever the host has, the reference and its tolerances are the same bits.
TEST(Golden, EveryVariantGivesTheSameBits) {
  if (!arith::isa_available(arith::Isa::kAvx2)) GTEST_SKIP() << "only one variant here";
  AttentionShape chain{1, 1, 41, 200, 48};
  chain.softmax = false;
  for (const AttentionShape& shape :
       {AttentionShape{1, 2, 37, 53, 24}, AttentionShape{1, 1, 9, 600, 33}, AttentionShape{1, 1, 72, 41, 96}, chain}) {
    for (const double spread : {2.0, 100.0}) {  // bounds by weights, and by ranges of weights
      const AttentionTensors t = random_attention(shape, 5, spread);
      const std::vector<Half> out = machine(shape, t);
      arith::set_isa(arith::Isa::kPortable);
      const GoldenResult plain = check(shape, t, out);
      const std::vector<double> reference = reference_attention(shape, t.q.data(), t.k.data(), t.v.data());
      EXPECT_EQ(plain.passed, shape.softmax);  // the machine's has one
      for (const arith::Isa isa : {arith::Isa::kAvx2, arith::Isa::kAvx512}) {
        if (!arith::isa_available(isa)) continue;
        arith::set_isa(isa);
        const GoldenResult result = check(shape, t, out);
        EXPECT_EQ(reference_attention(shape, t.q.data(), t.k.data(), t.v.data()), reference);
        EXPECT_EQ(result.failures, plain.failures);
        EXPECT_EQ(result.max_abs_error, plain.max_abs_error);
        EXPECT_EQ(result.tolerance, plain.tolerance);
        EXPECT_EQ(result.row, plain.row);
      }
    }
  }
}

}  // namespace
}  // namespace attnvp::job
