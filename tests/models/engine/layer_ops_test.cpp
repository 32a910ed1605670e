// What a layer does between its products, on the VEC engine. Cycle counts by hand, as in row_ops_test.cpp: 2
// lane-cycles a sum or product, 20 an exponential, 6 a quotient or root, 256 lanes, a port of 64 bytes a cycle.
#include <fmt/format.h>

#include "models/arith/layer.h"
#include "models/engine/vec_engine/vec_engine.h"
#include "tests/models/engine/online_ops.h"
#include "tests/models/engine/row_cycles.h"

namespace attnvp::bench {
namespace {

using hal::Activation;
using hal::Opcode;

constexpr std::uint64_t kA = kL1, kB = kL1 + 0x20000, kC = kL1 + 0x40000, kD = kL1 + 0x60000;

// Dense rows of FP16, from kA to kB.
hal::Descriptor rows_op(Opcode opcode, std::uint32_t rows, std::uint32_t columns) {
  hal::Descriptor d{};
  d.opcode = opcode;
  d.rows = rows;
  const std::uint64_t places[] = {kA, kB};
  for (int i = 0; i < 2; ++i) {
    d.operand[i] = {places[i], 2 * columns, columns};
    d.type[i] = hal::ElementType::kFp16;
  }
  return d;
}
hal::Descriptor with(hal::Descriptor d, int i, std::uint64_t address, std::uint32_t columns) {
  d.operand[i] = {address, 2 * columns, columns};
  d.type[i] = hal::ElementType::kFp16;
  return d;
}
hal::Descriptor norm_op(std::uint32_t rows, std::uint32_t columns, bool centred) {
  hal::Descriptor d = with(rows_op(Opcode::kNorm, rows, columns), 2, kC, columns);
  d.tail.norm = {0x3727C5AC, centred ? 1U : 0U};  // 1e-5
  return centred ? with(d, 3, kD, columns) : d;
}
hal::Descriptor add_op(std::uint32_t rows, std::uint32_t columns) {
  return with(rows_op(Opcode::kAdd, rows, columns), 2, kC, columns);
}
hal::Descriptor bias_op(std::uint32_t rows, std::uint32_t columns) {
  return with(rows_op(Opcode::kBias, rows, columns), 2, kC, columns);
}
hal::Descriptor activate_op(Activation f, bool gated, std::uint32_t rows, std::uint32_t columns) {
  hal::Descriptor d = rows_op(Opcode::kActivate, rows, columns);
  d.tail.activate.function = f;
  return gated ? with(d, 2, kC, columns) : d;
}
hal::Descriptor rotate_op(std::uint32_t rows, std::uint32_t columns, std::uint32_t head) {
  return with(rows_op(Opcode::kRotate, rows, columns), 2, kC, head);
}
// INT4 with scales of FP16.
hal::Descriptor dequantise_op(std::uint32_t rows, std::uint32_t columns, std::uint32_t group, std::uint32_t first = 0) {
  hal::Descriptor d = with(rows_op(Opcode::kDequantise, rows, columns), 2, kC, rows);
  d.operand[0].row_stride = columns / 2;
  d.type[0] = hal::ElementType::kInt4;
  d.tail.dequantise = {group, first};
  return d;
}
hal::Descriptor convert_op(std::uint32_t rows, std::uint32_t columns, hal::ElementType type, float factor = 1) {
  hal::Descriptor d = rows_op(Opcode::kConvert, rows, columns);
  d.type[1] = type;
  d.operand[1].row_stride = columns * hal::element_bytes(type);
  std::memcpy(&d.tail.convert.factor, &factor, sizeof factor);
  return d;
}
hal::Descriptor in_place(hal::Descriptor d) {
  d.operand[1] = d.operand[0];
  return d;
}

using Case = RowCycles;

class LayerOpCycles : public testing::TestWithParam<Case> {};

TEST_P(LayerOpCycles, AreTheHandCount) { expect_hand_count(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Shapes, LayerOpCycles,
    testing::Values(
        // 14 lane-cycles an element: 768 x 14 / 256 = 42 a row; a row's own 2 sums, 3 products, 2 quotients: 22, in all
        // 8 x 22 / 256: 1. Last 42 + 1; body 8 x 42 + 1 - 43 = 294, but L1 takes 7 x 3,072 B = 336. Fill: a row of
        // 1,536 B, gamma and beta: 72. Drain 24.
        Case{"LayerNorm", norm_op(8, 768, true), kPush + 72 + 336 + 43 + 16 + 24},
        // On half the lanes: 84 a row, 8 x 22 / 128: 2. Last 84 + 1, body 674 - 85.
        Case{"LayerNormFewLanes", norm_op(8, 768, true), kPush + 72 + 589 + 85 + 16 + 24, 128},
        // 8 lane-cycles: 24 a row; 16 of a row: 1 in all. Fill 48; body 336 > 8 x 24 + 1 - 25.
        Case{"RmsNorm", norm_op(8, 768, false), kPush + 48 + 336 + 25 + 16 + 24},
        // Two rows of 3,072 B and gamma's 1,536 fit VEC's half of L0, 7,680 B, or do not: then rows come twice and
        // gamma for each: body 7 x (3 + 1) x 1,536 B = 672, last 3,072 B = 48 > 25; fill 24.
        Case{"RmsNormFits", norm_op(8, 768, false), kPush + 48 + 336 + 25 + 16 + 24, 256, 15360},
        Case{"RmsNormFromL1", norm_op(8, 768, false), kPush + 24 + 672 + 48 + 16 + 24, 256, 15358},
        // In place a row takes its room but once: 2 x 1,536 + 1,536 B.
        Case{"RmsNormInPlace", in_place(norm_op(8, 768, false)), kPush + 48 + 336 + 25 + 16 + 24, 256, 9216},
        // 64 elements x 4 rows at a time. 10 x 64 x 2 / 256 = 5, last 2 rows 1. Fill 4 x 256 B = 16; body 6 x 256 + 8 x
        // 128 B = 40 > 4; drain 2 x 128 B.
        Case{"Add", add_op(10, 64), kPush + 16 + 40 + 1 + 16 + 4},
        // On 16 lanes a row at a time: 10 x 8 cycles, last 8. Fill 256 B; body 72.
        Case{"AddFewLanes", add_op(10, 64), kPush + 4 + 72 + 8 + 16 + 2, 16},
        // b comes once: fill 4 x 128 + 128 B = 10; body 6 x 128 + 8 x 128 B = 28.
        Case{"Bias", bias_op(10, 64), kPush + 10 + 28 + 1 + 16 + 4},
        // 28 lane-cycles: exponential, sum, quotient. 10 x 64 x 28 / 256 = 70, last 14. Fill 512 B; drain 256 B.
        Case{"Silu", activate_op(Activation::kSilu, false, 10, 64), kPush + 8 + 56 + 14 + 16 + 4},
        // And a product: 75, last 15. Fill 1 KiB.
        Case{"SwiGlu", activate_op(Activation::kSilu, true, 10, 64), kPush + 16 + 60 + 15 + 16 + 4},
        // 6 sums, 10 products, an exponential and a quotient: 58. 145, last 29.
        Case{"Gelu", activate_op(Activation::kGelu, false, 10, 64), kPush + 8 + 116 + 29 + 16 + 4},
        // 38 lane-cycles: 95, last 19.
        Case{"GeluTanh", activate_op(Activation::kGeluTanh, false, 10, 64), kPush + 8 + 76 + 19 + 16 + 4},
        // A maximum: 5, last 1; body 6 x 128 + 8 x 128 B = 28.
        Case{"Relu", activate_op(Activation::kRelu, false, 10, 64), kPush + 8 + 28 + 1 + 16 + 4},
        // 6 lane-cycles: 15, last 3. Fill 4 x (128 + 64) B = 12; body 6 x 192 + 8 x 128 B = 34; drain 4.
        Case{"Rotate", rotate_op(10, 64, 32), kPush + 12 + 34 + 3 + 16 + 4},
        // 32 elements x 8 rows at a time, of 16 B, four scales of 2 B and 64 B of results: fill 192 B = 3; body 192 +
        // 512 B = 11; 2 lane-cycles: last 8 x 32 x 2 / 256 = 2; drain 512 B.
        Case{"Dequantise", dequantise_op(16, 32, 8), kPush + 3 + 11 + 2 + 16 + 8},
        // 64 elements x 4 rows at a time. 10 x 64 x 2 / 256 = 5, last 1. Fill 512 B = 8; body 6 x 128 + 8 x 64 B = 20;
        // drain 2 x 64 B.
        Case{"Convert", convert_op(10, 64, hal::ElementType::kInt8), kPush + 8 + 20 + 1 + 16 + 2}),
    [](const auto& of) { return std::string(of.param.name); });

TEST(LayerOps, CountOperations) {
  struct Count {
    hal::Descriptor d;
    std::uint64_t max, add, mul, exp, div;
  };
  for (const Count& c : {Count{norm_op(5, 60, true), 0, 4 * 300 + 2 * 5, 3 * 300 + 3 * 5, 0, 10},
                         {norm_op(5, 60, false), 0, 300 + 5, 3 * 300 + 5, 0, 10},
                         {add_op(5, 60), 0, 300, 0, 0, 0},
                         {bias_op(5, 60), 0, 300, 0, 0, 0},
                         {activate_op(Activation::kRelu, false, 5, 60), 300, 0, 0, 0, 0},
                         {activate_op(Activation::kSilu, false, 5, 60), 0, 300, 0, 300, 300},
                         {activate_op(Activation::kSilu, true, 5, 60), 0, 300, 300, 300, 300},
                         {activate_op(Activation::kGelu, false, 5, 60), 0, 1800, 3000, 300, 300},
                         {activate_op(Activation::kGeluTanh, true, 5, 60), 0, 600, 1500, 300, 300},
                         {rotate_op(5, 60, 20), 0, 300, 600, 0, 0},
                         {dequantise_op(5, 60, 30), 0, 0, 300, 0, 0},
                         {convert_op(5, 60, hal::ElementType::kFp8E4M3), 0, 0, 300, 0, 0}}) {
    Bench bench;
    cycles_of(bench, kVec, c.d);
    const auto& vec = dynamic_cast<const VecEngine&>(*bench.core().vec);
    EXPECT_EQ(vec.max_ops.value(), c.max);
    EXPECT_EQ(vec.add_ops.value(), c.add);
    EXPECT_EQ(vec.mul_ops.value(), c.mul);
    EXPECT_EQ(vec.exp_ops.value(), c.exp);
    EXPECT_EQ(vec.div_ops.value(), c.div);
    EXPECT_EQ(vec.lane_ops.value(), 0U);
  }
}

// Strided rows, in place and apart; what lies between rows stays as it was.
TEST(LayerOps, ValuesAreArith) {
  const std::uint32_t rows = 6, columns = 36, stride = 40, head = 12;
  const std::vector<arith::Half> x = some_halves(rows * stride, 1), z = some_halves(rows * stride, 2),
                                 v = some_halves(columns, 3);
  std::vector<float> gamma(columns), beta(columns);
  arith::floats_from_halves(v.data(), gamma.data(), columns);
  arith::floats_from_halves(z.data(), beta.data(), columns);
  for (const bool apart : {false, true}) {
    for (hal::Descriptor d : {norm_op(rows, columns, true), norm_op(rows, columns, false), add_op(rows, columns),
                              bias_op(rows, columns), activate_op(Activation::kGelu, false, rows, columns),
                              activate_op(Activation::kSilu, true, rows, columns), rotate_op(rows, columns, head)}) {
      const bool has_vector = d.opcode == Opcode::kNorm || d.opcode == Opcode::kBias;
      for (int i = 0; i < (has_vector ? 2 : 3); ++i) d.operand[i].row_stride = 2 * stride;
      if (!apart) d.operand[1] = d.operand[0];
      const std::uint64_t out = apart ? kB : kA;
      Bench bench;
      bench.run([&](Bench& b) {
        b.set_l1(kA, x);
        b.set_l1(kB, x);
        b.set_l1(kC, has_vector ? v : z);
        b.set_l1(kD, z);
        b.push(kVec, then(d, 0));
        b.take(0);
      });
      std::vector<arith::Half> expected = x;
      for (std::uint32_t r = 0; r < rows; ++r) {
        const arith::Half *const in = &x[r * stride], *const other = &z[r * stride];
        arith::Half* const y = &expected[r * stride];
        switch (d.opcode) {
          case Opcode::kNorm:
            arith::norm_row(in, y, columns, {gamma.data(), d.tail.norm.centred != 0 ? beta.data() : nullptr}, 1e-5F);
            break;
          case Opcode::kAdd:
            arith::add_row(in, other, y, columns);
            break;
          case Opcode::kBias:
            arith::add_row(in, v.data(), y, columns);
            break;
          case Opcode::kActivate:
            arith::activate_row(d.tail.activate.function, in, d.type[2] == hal::ElementType::kNone ? nullptr : other, y,
                                columns);
            break;
          default:
            arith::rotate_row(in, other, y, columns, head);
            break;
        }
      }
      EXPECT_EQ(bench.l1<arith::Half>(out, x.size()), expected) << static_cast<int>(d.opcode) << " " << apart;
    }
  }
}

// Codes 0 to 15 are 0 to 7 and -8 to -1; columns 0 and 1 are the last of a group of 3 whose scale is 0.5.
TEST(LayerOps, DequantiseByGroups) {
  Bench bench;
  const std::vector<std::uint8_t> codes = {0x10, 0x72, 0x98, 0xF0};  // 0 1 2 7, -8 -7 0 -1
  const auto half = [](float x) { return arith::half_from_float(x); };
  const std::vector<arith::Half> scales = {half(0.5F), half(2), half(4), half(-1)};  // of a group: of both rows
  bench.run([&](Bench& b) {
    b.set_l1(kA, codes);
    b.set_l1(kC, scales);
    b.push(kVec, then(dequantise_op(2, 4, 3, 1), 0));
    b.take(0);
  });
  std::vector<arith::Half> expected;
  for (const float x : {0.0F, 0.5F, 8.0F, 28.0F, -16.0F, -14.0F, -0.0F, 1.0F}) expected.push_back(half(x));
  EXPECT_EQ(bench.l1<arith::Half>(kB, 8), expected);
}

// A scale of 0.5 for INT8, which saturates; ties round to even. FP8 rounds to 4 bits, and 448 is the greatest.
TEST(LayerOps, ConvertToShorterTypes) {
  const auto codes_of = [](hal::ElementType type, float factor, std::vector<float> numbers) {
    std::vector<arith::Half> x;
    for (const float number : numbers) x.push_back(arith::half_from_float(number));
    Bench bench;
    bench.run([&](Bench& b) {
      b.set_l1(kA, x);
      b.push(kVec, then(convert_op(2, static_cast<std::uint32_t>(x.size() / 2), type, factor), 0));
      b.take(0);
    });
    return bench.l1<std::uint8_t>(kB, x.size());
  };
  EXPECT_EQ(codes_of(hal::ElementType::kInt8, 2, {0, 0.25F, 0.75F, 1.25F, -0.5F, 63.5F, 64, -1000}),
            (std::vector<std::uint8_t>{0, 0, 2, 2, 255, 127, 127, 129}));
  // 1 is 0x38, 1.0625 is a tie between 1 and 1.125.
  EXPECT_EQ(codes_of(hal::ElementType::kFp8E4M3, 1, {1, 1.0625F, -1.125F, 448, 1000, 0}),
            (std::vector<std::uint8_t>{0x38, 0x38, 0xB9, 0x7E, 0x7E, 0}));
}

hal::Descriptor at(hal::Descriptor d, int operand, std::uint64_t address) {
  d.operand[operand].address = address;
  return d;
}
hal::Descriptor typed(hal::Descriptor d, int operand, hal::ElementType type) {
  d.type[operand] = type;
  return d;
}

class LayerOpFault : public testing::TestWithParam<FaultCase> {};
TEST_P(LayerOpFault, IsReported) { expect_fault(machine(), kVec, {}, GetParam()); }

using F = FaultCode;
INSTANTIATE_TEST_SUITE_P(
    Cases, LayerOpFault,
    testing::Values(
        FaultCase{"NormNoRows", F::kZeroSize, kA, norm_op(0, 8, true)},
        FaultCase{"AddNoColumns", F::kZeroSize, kA, add_op(4, 0)},
        FaultCase{"NormWithoutGamma", F::kBadType, kC, typed(norm_op(4, 8, false), 2, hal::ElementType::kNone)},
        FaultCase{"NormOfBf16", F::kBadType, kA, typed(norm_op(4, 8, false), 0, hal::ElementType::kBf16)},
        FaultCase{"NormOverGamma", F::kOverlap, kB, at(norm_op(4, 8, false), 2, kB)},
        FaultCase{"NormHalfOverItself", F::kOverlap, kA + 2, at(norm_op(4, 8, false), 1, kA + 2)},
        FaultCase{"AddOverPartOfIt", F::kOverlap, kB + 8, at(add_op(4, 8), 2, kB + 8)},
        FaultCase{"RotateOverAngles", F::kOverlap, kB, at(rotate_op(4, 8, 8), 2, kB)},
        FaultCase{"RotateHeadsThatDoNotFit", F::kBadOperand, kC, rotate_op(4, 8, 6)},
        FaultCase{"DequantiseFp16", F::kBadType, kA, typed(dequantise_op(4, 8, 4), 0, hal::ElementType::kFp16)},
        FaultCase{"DequantiseByFp32", F::kBadType, kC, typed(dequantise_op(4, 8, 4), 2, hal::ElementType::kFp32)},
        FaultCase{"DequantiseInPlace", F::kOverlap, kA, at(dequantise_op(4, 8, 4), 1, kA)},
        FaultCase{"DequantiseBehindItsGroup", F::kBadOperand, kC, dequantise_op(4, 8, 4, 4)},
        FaultCase{"ConvertFromFp32", F::kBadType, kA,
                  typed(convert_op(4, 8, hal::ElementType::kInt8), 0, hal::ElementType::kFp32)},
        FaultCase{"ConvertToFp32", F::kBadType, kB,
                  typed(convert_op(4, 8, hal::ElementType::kInt8), 1, hal::ElementType::kFp32)},
        FaultCase{"ConvertInPlace", F::kOverlap, kA, at(convert_op(4, 8, hal::ElementType::kInt8), 1, kA)},
        FaultCase{"RotateOddHeads", F::kBadOperand, kC, rotate_op(4, 9, 3)},
        FaultCase{"NoSuchActivation", F::kBadOperand, kA, activate_op(static_cast<Activation>(4), false, 4, 8)}),
    [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace attnvp::bench
