#include "platform/job/golden.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "models/arith/isa.h"
#include "models/arith/matmul.h"
#include "models/arith/online.h"
#include "models/arith/softmax.h"
#include "platform/job/random_tensors.h"

namespace attnvp::job {
namespace {

using arith::Half;

// What the machine computes, straight from its arithmetic.
std::vector<Half> machine(const AttentionShape& s, const AttentionTensors& t) {
  std::vector<Half> out(s.query_elements()), scores(s.queries * s.keys);
  arith::Workspace workspace;
  for (std::size_t bh = 0; bh < s.batch * s.heads; ++bh) {
    const std::size_t q = bh * s.queries * s.width, kv = bh * s.keys * s.width;
    const arith::Matrix<Half> score_matrix{scores.data(), s.keys};
    arith::matmul({s.queries, s.keys, s.width, true}, {t.q.data() + q, s.width}, {t.k.data() + kv, s.width}, {},
                  score_matrix, workspace);
    for (std::size_t i = 0; i < s.queries; ++i) {
      arith::softmax_row(&scores[i * s.keys], &scores[i * s.keys], s.keys, workspace);
    }
    arith::matmul({s.queries, s.width, s.keys, false}, {scores.data(), s.keys}, {t.v.data() + kv, s.width}, {},
                  arith::Matrix<Half>{out.data() + q, s.width}, workspace);
  }
  return out;
}

GoldenResult check(const AttentionShape& s, const AttentionTensors& t, const std::vector<Half>& out,
                   std::size_t keys_per_tile = 0) {
  return check_attention(s, t.q.data(), t.k.data(), t.v.data(), out.data(), {keys_per_tile});
}

// The same in one pass over tiles of keys. A mistake to be found: the sums are not scaled, or not once.
constexpr std::size_t kMistakenRow = 1;  // its greatest score comes late
enum class Mistake { kNone, kNeverScaled, kOnceUnscaled, kLostTile };
std::vector<Half> one_pass(const AttentionShape& s, const AttentionTensors& t, std::size_t tile,
                           Mistake mistake = Mistake::kNone) {
  std::vector<Half> out(s.query_elements()), p(tile);
  arith::Workspace workspace;
  for (std::size_t row = 0; row < s.batch * s.heads * s.queries; ++row) {
    const std::size_t kv = row / s.queries * s.keys * s.width;
    std::vector<float> sums(s.width + 1), part(s.width + 1);
    Half m = 0;
    for (std::size_t j = 0; j < s.keys; j += tile) {
      const std::size_t n = std::min(tile, s.keys - j);
      arith::matmul({1, n, s.width, true}, {t.q.data() + row * s.width, s.width},
                    {t.k.data() + kv + j * s.width, s.width}, {}, arith::Matrix<Half>{p.data(), n}, workspace);
      const Half before = m, top = arith::row_max(p.data(), n);
      m = j == 0 ? top : arith::running_max(before, top);
      part[s.width] = arith::exp_row(p.data(), p.data(), n, m);
      arith::matmul({1, s.width, n, false}, {p.data(), n}, {t.v.data() + kv + j * s.width, s.width}, {},
                    arith::Matrix<float>{part.data(), s.width}, workspace);
      float scale = j == 0 ? 0 : arith::exp_scale(before, m);
      if (mistake == Mistake::kNeverScaled) scale = 1;
      if (mistake == Mistake::kOnceUnscaled && row == kMistakenRow) scale = 1;
      if (mistake == Mistake::kLostTile && row == kMistakenRow && j == tile) continue;
      arith::scale_add_row(sums.data(), scale, part.data(), sums.size());
    }
    arith::divide_row(sums.data(), sums[s.width], &out[row * s.width], s.width);
  }
  return out;
}

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

  t = plain;  // row 0: scores of both signs beyond FP16
  std::fill(t.q.begin(), t.q.begin() + 16, big);
  out = agrees(t);
  EXPECT_TRUE(arith::is_nan(out[0]));

  t = plain;  // key 4 has score -inf in every row, and is left out
  for (std::size_t i = 0; i < s.queries; ++i) t.q[i * 16] = big;
  for (std::size_t j = 0; j < s.keys; ++j) t.k[j * 16] = 0;
  t.k[4 * 16] = big | arith::kHalfSign;
  out = agrees(t);
  EXPECT_TRUE(arith::is_finite(out[0]));

  for (std::size_t j = 0; j < s.keys; ++j) t.k[j * 16] = big | arith::kHalfSign;  // nothing but -inf
  out = agrees(t);
  EXPECT_TRUE(arith::is_nan(out[0]));
  EXPECT_TRUE(fails(t, out, 0, 0));

  t = plain;  // results at the limit of FP16
  std::fill(t.v.begin(), t.v.end(), big);
  agrees(t);
}

// Whatever the host has, the reference and its tolerances are the same bits.
TEST(Golden, EveryVariantGivesTheSameBits) {
  if (!arith::isa_available(arith::Isa::kAvx2)) GTEST_SKIP() << "only one variant here";
  AttentionShape chain{1, 1, 41, 200, 48};
  chain.softmax = false;
  for (const AttentionShape& shape :
       {AttentionShape{1, 2, 37, 53, 24}, AttentionShape{1, 1, 9, 600, 33}, AttentionShape{1, 1, 72, 41, 96}, chain}) {
    const AttentionTensors t = random_attention(shape, 5);
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

}  // namespace
}  // namespace attnvp::job
