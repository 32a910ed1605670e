#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "models/arith/isa.h"
#include "models/arith/matmul.h"
#include "models/arith/number.h"

namespace attnvp::arith {
namespace {

struct Case {
  MatmulShape shape;
  std::vector<unsigned char> a, b;
  std::size_t a_stride, b_stride;  // elements
  ElementType type;
  ElementMatrix left() const { return {a.data(), a_stride * hal::element_bytes(type), type}; }
  ElementMatrix right() const { return {b.data(), b_stride * hal::element_bytes(type), type}; }
  float value(const std::vector<unsigned char>& m, std::size_t at) const {
    float x = 0;
    floats_from(type, m.data() + at * hal::element_bytes(type), &x, 1);
    return x;
  }
  float a_at(std::size_t i, std::size_t k) const { return value(a, i * a_stride + k); }
  float b_at(std::size_t k, std::size_t j) const {
    return value(b, shape.b_transposed ? j * b_stride + k : k * b_stride + j);
  }
};

Case random_case(ElementType type, MatmulShape shape, unsigned seed, float spread = 2) {
  std::mt19937 random(seed);
  std::normal_distribution<float> number(0, type == ElementType::kInt8 ? 60 : spread);
  Case c{shape, {}, {}, shape.k + 3, (shape.b_transposed ? shape.k : shape.n) + 5, type};
  const auto fill = [&](std::vector<unsigned char>& to, std::size_t elements) {
    std::vector<float> from(elements);
    for (float& x : from) x = number(random);
    to.resize(elements * hal::element_bytes(type));
    from_floats(type, from.data(), to.data(), elements);
  };
  fill(c.a, shape.m * c.a_stride);
  fill(c.b, (shape.b_transposed ? shape.n : shape.k) * c.b_stride);
  return c;
}

const std::vector<MatmulShape> kShapes = {
    {1, 1, 1, true}, {7, 33, 64, true}, {16, 16, 40, false}, {3, 50, 1500, false}, {20, 5, 1025, true}};

TEST(MatmulTypes, FloatsAreSummedUpInTheOrderOfTheDepthWithOneRoundingEach) {
  for (const ElementType type : {ElementType::kBf16, ElementType::kFp8E4M3, ElementType::kFp8E5M2}) {
    for (const MatmulShape& shape : kShapes) {
      const Case c = random_case(type, shape, 5);
      std::vector<float> expected(shape.m * shape.n);
      for (std::size_t i = 0; i < shape.m; ++i) {
        for (std::size_t j = 0; j < shape.n; ++j) {
          float sum = static_cast<float>(i + j);
          for (std::size_t k = 0; k < shape.k; ++k) sum = std::fma(c.a_at(i, k), c.b_at(k, j), sum);
          expected[i * shape.n + j] = sum;
        }
      }
      for (const Isa isa : {Isa::kPortable, Isa::kAvx2}) {
        if (!isa_available(isa)) continue;
        set_isa(isa);
        std::vector<float> sums(shape.m * shape.n);
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = static_cast<float>(i / shape.n + i % shape.n);
        Workspace workspace;
        add_products(shape, c.left(), c.right(), {sums.data(), shape.n}, workspace);
        EXPECT_EQ(sums, expected);
      }
    }
  }
}

// Products that FP32 cannot hold: 2^-80 * 2^-60 underflows, and is more than nothing beside a sum of that size.
TEST(MatmulTypes, ProductsOfBf16BeyondFp32AreNotRoundedBeforeTheyAreAdded) {
  const std::uint16_t a[] = {bf16_from_float(0x1.8p-70F), bf16_from_float(1)},
                      b[] = {bf16_from_float(0x1.02p-70F), bf16_from_float(0x1p-130F)};
  const float expected = std::fma(1.0F, 0x1p-130F, std::fma(0x1.8p-70F, 0x1.02p-70F, 0.0F));
  for (const Isa isa : {Isa::kPortable, Isa::kAvx2}) {
    if (!isa_available(isa)) continue;
    set_isa(isa);
    float sum = 0;
    Workspace workspace;
    const auto bytes = [](const std::uint16_t* of) { return reinterpret_cast<const unsigned char*>(of); };
    add_products({1, 1, 2, true}, {bytes(a), 4, ElementType::kBf16}, {bytes(b), 4, ElementType::kBf16}, {&sum, 1},
                 workspace);
    EXPECT_EQ(sum, expected);
  }
}

TEST(MatmulTypes, IntegersAreExact) {
  for (const MatmulShape& shape : kShapes) {
    const Case c = random_case(ElementType::kInt8, shape, 9);
    std::vector<std::int32_t> sums(shape.m * shape.n, -17), expected(sums);
    std::vector<std::int32_t> rows(shape.m, 4), expected_rows(rows);
    for (std::size_t i = 0; i < shape.m; ++i) {
      for (std::size_t k = 0; k < shape.k; ++k) {
        expected_rows[i] += static_cast<int>(c.a_at(i, k));
        for (std::size_t j = 0; j < shape.n; ++j) {
          expected[i * shape.n + j] += static_cast<int>(c.a_at(i, k)) * static_cast<int>(c.b_at(k, j));
        }
      }
    }
    for (const Isa isa : {Isa::kPortable, Isa::kAvx2}) {
      if (!isa_available(isa)) continue;
      set_isa(isa);
      std::vector<std::int32_t> got(shape.m * shape.n, -17), got_rows(shape.m, 4);
      Workspace workspace;
      add_products(shape, c.left(), c.right(), MatrixView<std::int32_t>{got.data(), shape.n}, workspace);
      add_rows(shape, c.left(), got_rows.data(), 1);
      EXPECT_EQ(got, expected);
      EXPECT_EQ(got_rows, expected_rows);
    }
  }
}

// 127 * 127 * 4000 needs 26 bits, which FP32 does not have.
TEST(MatmulTypes, IntegerSumsBeyondFp32) {
  const std::size_t depth = 4001;
  const std::vector<unsigned char> ones(depth, 127);
  std::int32_t sum = 0;
  Workspace workspace;
  add_products({1, 1, depth, true}, {ones.data(), depth, ElementType::kInt8}, {ones.data(), depth, ElementType::kInt8},
               MatrixView<std::int32_t>{&sum, 1}, workspace);
  EXPECT_EQ(sum, 127 * 127 * 4001);
}

}  // namespace
}  // namespace attnvp::arith
