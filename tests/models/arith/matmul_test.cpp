#include "models/arith/matmul.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "models/arith/isa.h"

namespace attnvp::arith {
namespace {

constexpr float kGuard = 12345.0F;  // fills what must not be written

class MatmulTest : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!isa_available(GetParam())) GTEST_SKIP() << "not on this host";
    set_isa(GetParam());
  }

  std::vector<Half> random_halves(std::size_t n, bool special = false) {
    std::vector<Half> halves(n);
    for (Half& h : halves) {
      const auto bits = static_cast<Half>(random_());
      // All patterns, or numbers of magnitude 2^-7 .. 2^2 whose sums need rounding.
      h = special ? bits : static_cast<Half>((bits & 0x83FF) | (8 + (bits >> 10) % 9) << 10);
    }
    return halves;
  }
  std::size_t below(std::size_t n) { return random_() % n; }

  std::mt19937 random_{7};
  Workspace workspace_;
};

struct Problem {
  MatmulShape shape;
  std::size_t a_stride, b_stride, c_stride;
  std::vector<Half> a, b;
  std::vector<float> partials;  // m x c_stride
};

std::vector<float> naive(const Problem& p) {
  std::vector<float> c(p.shape.m * p.c_stride, kGuard);
  for (std::size_t i = 0; i < p.shape.m; ++i) {
    for (std::size_t j = 0; j < p.shape.n; ++j) {
      volatile float sum = p.partials.empty() ? 0.0F : p.partials[i * p.c_stride + j];
      for (std::size_t k = 0; k < p.shape.k; ++k) {
        const Half b = p.shape.b_transposed ? p.b[j * p.b_stride + k] : p.b[k * p.b_stride + j];
        volatile float product = float_from_half(p.a[i * p.a_stride + k]) * float_from_half(b);
        sum = sum + product;
      }
      c[i * p.c_stride + j] = std::isnan(sum) ? std::nanf("") : sum;
    }
  }
  return c;
}

MatrixView<const float> partials_of(const Problem& p) {
  return {p.partials.empty() ? nullptr : p.partials.data(), p.c_stride};
}

// Both outputs against the naive loop, bit for bit, with guards between the rows.
void expect_exact(const Problem& p, Workspace& workspace) {
  const std::vector<float> expected = naive(p);
  std::vector<float> c32(expected.size(), kGuard);
  matmul(p.shape, {p.a.data(), p.a_stride}, {p.b.data(), p.b_stride}, partials_of(p),
         MatrixView<float>{c32.data(), p.c_stride}, workspace);
  ASSERT_EQ(std::memcmp(c32.data(), expected.data(), c32.size() * sizeof(float)), 0)
      << p.shape.m << "x" << p.shape.n << "x" << p.shape.k;

  const Half guard = half_from_float(kGuard);
  std::vector<Half> c16(expected.size(), guard);
  matmul(p.shape, {p.a.data(), p.a_stride}, {p.b.data(), p.b_stride}, partials_of(p),
         MatrixView<Half>{c16.data(), p.c_stride}, workspace);
  for (std::size_t i = 0; i < c16.size(); ++i) ASSERT_EQ(c16[i], half_from_float(expected[i])) << i;
}

TEST_P(MatmulTest, RandomShapesMatchTheNaiveOrder) {
  for (int round = 0; round < 150; ++round) {
    Problem p;
    p.shape = {1 + below(20), 1 + below(50), below(70), round % 2 == 0};
    p.a_stride = p.shape.k + below(3);
    p.b_stride = (p.shape.b_transposed ? p.shape.k : p.shape.n) + below(3);
    p.c_stride = p.shape.n + below(3);
    const bool special = round % 5 == 0;
    p.a = random_halves(p.shape.m * p.a_stride, special);
    p.b = random_halves((p.shape.b_transposed ? p.shape.n : p.shape.k) * p.b_stride, special);
    if (round % 3 == 0) {
      p.partials.resize(p.shape.m * p.c_stride);
      for (float& x : p.partials) x = static_cast<float>(random_()) * 1e-9F - 2.0F;
    }
    expect_exact(p, workspace_);
  }
}

TEST_P(MatmulTest, TilesOfTheAttentionLayer) {
  for (const MatmulShape shape : {MatmulShape{64, 512, 64, true}, MatmulShape{64, 64, 512, false},
                                  MatmulShape{1, 512, 64, true}, MatmulShape{1, 64, 512, false}}) {
    const std::size_t b_stride = shape.b_transposed ? shape.k : shape.n;
    const Problem p{
        shape, shape.k, b_stride, shape.n, random_halves(shape.m * shape.k), random_halves(shape.n * shape.k), {}};
    expect_exact(p, workspace_);
  }
}

TEST_P(MatmulTest, SplitAlongKIsTheSame) {
  const MatmulShape whole{37, 45, 300, true};
  const std::vector<Half> a = random_halves(whole.m * whole.k), b = random_halves(whole.n * whole.k);
  std::vector<Half> expected(whole.m * whole.n), c16(expected.size());
  matmul(whole, {a.data(), whole.k}, {b.data(), whole.k}, {}, MatrixView<Half>{expected.data(), whole.n}, workspace_);
  std::vector<float> c(expected.size());
  MatrixView<const float> partials;
  for (std::size_t k = 0; k < 250; k += 50) {
    MatmulShape part = whole;
    part.k = 50;
    matmul(part, {a.data() + k, whole.k}, {b.data() + k, whole.k}, partials, MatrixView<float>{c.data(), whole.n},
           workspace_);
    partials = {c.data(), whole.n};  // in place from now on
  }
  MatmulShape last = whole;
  last.k = 50;
  matmul(last, {a.data() + 250, whole.k}, {b.data() + 250, whole.k}, partials, MatrixView<Half>{c16.data(), whole.n},
         workspace_);
  EXPECT_EQ(c16, expected);
}

TEST_P(MatmulTest, SpecialValues) {
  const Half inf = kHalfInfinity, minus_inf = kHalfInfinity | kHalfSign, big = kHalfMax, one = kHalfOne;
  const std::vector<Half> a = {one, one, inf, one};     // 2 x 2
  const std::vector<Half> b = {big, inf,       0, one,  // 2 x 4
                               big, minus_inf, 0, kHalfNan};
  std::vector<Half> c(8);
  matmul({2, 4, 2, false}, {a.data(), 2}, {b.data(), 4}, {}, MatrixView<Half>{c.data(), 4}, workspace_);
  EXPECT_EQ(c, (std::vector<Half>{inf, kHalfNan, 0, kHalfNan, inf, kHalfNan, kHalfNan, kHalfNan}));
}

TEST_P(MatmulTest, EmptyK) {
  const float partial = 1.5F;
  Half c = 0;
  matmul({1, 1, 0, false}, {}, {}, {&partial, 1}, MatrixView<Half>{&c, 1}, workspace_);
  EXPECT_EQ(c, half_from_float(1.5F));
}

INSTANTIATE_TEST_SUITE_P(Variants, MatmulTest, testing::Values(Isa::kPortable, Isa::kAvx2),
                         [](const auto& i) { return i.param == Isa::kAvx2 ? "Avx2" : "Portable"; });

}  // namespace
}  // namespace attnvp::arith
