// Products with weights of fewer bits: values against golden, traffic against counts by hand, L1 and times against
// bounds.

#include <fmt/format.h>

#include "models/arith/number.h"
#include "platform/run/operations.h"
#include "platform/workload/operations.h"
#include "platform/workload/workload.h"
#include "tests/platform/product_runs.h"
#include "tests/platform/random_jobs.h"

namespace attnvp::runs {
namespace {

using workload::Norm;

workload::WeightType random_weights(Random& r) {
  const workload::WeightFormat& format = workload::kWeightFormats[r.from(0, std::size(workload::kWeightFormats) - 1)];
  std::int32_t group = -1;
  while (group < 0) group = format.groups.at(r.from(0, 3));
  return {&format, static_cast<std::uint32_t>(group)};
}

workload::Fusion random_fusion(Random& r) {
  workload::Fusion f;
  if (r.one_in(2)) return f;
  f.norm = static_cast<Norm>(r.from(0, 2));
  f.has_bias = r.one_in(2);
  f.has_residual = r.one_in(2);
  if (r.one_in(2)) {
    f.activation = hal::Activation::kSilu;
    f.is_gated = r.one_in(2);
  }
  return f;
}

class WeightedProducts : public ::testing::TestWithParam<int> {};

// Columns and depths are even, so that all transfers are whole words.
TEST_P(WeightedProducts, AreGoldenOnAnyMachineAndMoveTheCountedBytes) {
  for (std::uint32_t i = 0; i < 6; ++i) {
    Random r(static_cast<std::uint32_t>(GetParam()) * 7001 + i);
    MachineConfig machine = config::load_hardware("edge");
    machine.clusters = r.of({1, 2, 3});
    machine.cores = r.from(1, 3);
    machine.mac.rows = machine.mac.columns = r.of({8, 16});
    machine.vec.lanes = r.of({16, 256});
    machine.l1.size_bytes = r.of({256, 1024}) * 1024;
    const workload::WeightType weights = random_weights(r);
    const workload::Fusion fusion = random_fusion(r);
    const auto type = fusion.any() || r.one_in(2) ? hal::ElementType::kFp16 : hal::ElementType::kBf16;
    const workload::Gemm n =
        workload::gemm(r.from(1, 150), 4 * r.from(1, 30), 4 * r.from(1, 75), type, fusion, weights);
    const std::uint32_t nkv = std::min(n.columns, r.of({8, 24, 64}));
    const job::Tiling tiling =
        job::parse_tiling(fmt::format("nq={},nkv={},kd={},kv={},m0=8,n0=8,k0=8", std::min(n.rows, r.of({4, 16, 30})),
                                      nkv, std::min(n.depth, r.of({20, 64, 96, 500})), r.from(1, 3)));
    SCOPED_TRACE(fmt::format("{} on {} clusters of {} cores", n.name, machine.clusters, machine.cores));
    const job::RunResult full = expect_right_product(machine, n, tiling, 7 + i);
    // Each conversion is a product; the epilogue has others.
    const std::uint64_t converted = parts_of(n.rows, std::uint64_t{tiling["nq"]} * machine.cores) * n.columns * n.depth;
    EXPECT_GE(full.sum("vec", "mul_ops"), converted);
    if (!fusion.any()) {
      EXPECT_EQ(full.sum("vec", "mul_ops"), converted);
    }
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Random, WeightedProducts, ::testing::Range(0, 16));

// Odd columns and depths: rows of codes end within a byte.
TEST(WeightedProduct, TakesAnyShape) {
  const MachineConfig machine = config::load_hardware("edge");
  for (const char* text : {"gemm:5x7x33,weights=int4,group=32", "gemm:70x33x131,weights=mxfp4",
                           "gemm:3x1x1,weights=int4", "gemm:9x35x77,weights=int8",
                           "gemm:9x35x77,weights=fp8_e4m3,group=64", "gemm:1x129x257,type=bf16,weights=int8"}) {
    const workload::Workload n = workload::load(text);
    EXPECT_EQ(n.name(), text);
    const job::Tensors tensors = job::random_tensors(n, 5);
    const job::RunResult r = run(machine, n, "gemm", {}, &tensors);
    EXPECT_TRUE(r.golden_checked && r.golden.passed) << text << ": " << r.golden.to_string();
  }
}

// A product with weights of FP16 that are the converted numbers has the same bits.
TEST(WeightedProduct, HasTheBitsOfTheConvertedWeights) {
  const MachineConfig machine = config::load_hardware("edge");
  const job::Tiling tiling = job::parse_tiling("nq=16,nkv=32,kd=64,m0=16,n0=16,k0=16");
  for (const char* settings : {"weights=int4", "weights=mxfp4", "weights=int8,group=32", "weights=fp8_e4m3"}) {
    const workload::Workload n = workload::load(fmt::format("gemm:40x96x192,{}", settings));
    job::Tensors tensors = job::random_tensors(n, 9);
    const std::vector<arith::Half> output = run(machine, n, "gemm", tiling, &tensors).output;
    tensors.k = job::stored_weights(*n.gemm(), tensors.k);
    EXPECT_EQ(run(machine, workload::gemm(40, 96, 192), "gemm", tiling, &tensors).output, output) << settings;
  }
}

// The check tells formats and groups apart.
TEST(WeightedProduct, IsCheckedForItsWeights) {
  const MachineConfig machine = config::load_hardware("edge");
  const workload::Workload n = workload::load("gemm:8x32x256,weights=int4,group=64");
  const job::Tensors tensors = job::random_tensors(n, 3);
  const std::vector<arith::Half> output = run(machine, n, "gemm", {}, &tensors).output;
  for (const char* settings : {"", ",weights=int4,group=128", ",weights=mxfp4", ",weights=int8"}) {
    const workload::Workload other = workload::load(std::string("gemm:8x32x256") + settings);
    job::Tensors stored = tensors;
    stored.k = job::stored_weights(*other.gemm(), tensors.k);
    EXPECT_FALSE(job::check_operation(other, stored, output).passed) << settings;
  }
}

// Two INT4 codes a byte, a scale of FP16 for 128 of a column: 4096 x 4096 weights are 8 MiB and 32 scales of 2 bytes
// for each column.
TEST(WeightedProduct, HasItsBytes) {
  const workload::Gemm n = workload::gemm(1, 4096, 4096, hal::ElementType::kFp16, {},
                                          workload::weights_of("int4", std::nullopt, [](const char*, const auto&) {}));
  EXPECT_EQ(job::tensor_bytes(n).k, 4096U * (4096 / 2 + 4096 / 128 * 2));
  EXPECT_EQ(n.name, "gemm:1x4096x4096,weights=int4");
  // A row of codes is whole bytes: 3 of 5 codes; codes end at a whole burst.
  const workload::Workload odd = workload::load("gemm:1x3x5,weights=mxfp4");
  EXPECT_EQ(job::tensor_bytes(odd).k, 64U + 3);
}

TEST(WeightedProduct, TakesTilesOfWholeBytes) {
  const MachineConfig machine = config::load_hardware("edge");
  const job::Tiling odd = job::parse_tiling("nq=4,nkv=8,kd=5,kv=2,m0=4,n0=4,k0=4");
  EXPECT_THROW(run(machine, workload::load("gemm:8x20x10,weights=int4"), "gemm", odd, nullptr), job::TilingError);
  EXPECT_NO_THROW(run(machine, workload::load("gemm:8x20x10,weights=int8"), "gemm", odd, nullptr));
  EXPECT_NO_THROW(run(machine, workload::load("gemm:8x20x5,weights=int4"), "gemm", odd, nullptr));
}

TEST(WeightedProduct, RefusesWhatItCannotExpress) {
  for (const char* settings : {"weights=int2", "weights=fp16", "weights=int4,group=0", "weights=mxfp4,group=64",
                               "weights=int8,group=16", "group=64", "weights", "weights=int4,weights=int4",
                               "weights=int4,type=int8", "weights=fp8_e4m3,type=fp8_e4m3"}) {
    EXPECT_THROW(workload::load(fmt::format("gemm:8x32x16,{}", settings)), config::ConfigError) << settings;
  }
}

// Nearest numbers of the formats: INT4 by the greatest magnitude over 7, MXFP4 by a power of two (OCP MX 1.0), of which
// 6 is the greatest multiple.
TEST(WeightTypes, AreRoundedToTheirFormat) {
  const auto stored = [](const char* weights, const std::vector<double>& row) {
    const auto depth = static_cast<std::uint32_t>(row.size());
    std::vector<arith::Half> halves;
    for (const double x : row) halves.push_back(arith::half_from_double(x));
    const auto none = [](const char*, const std::string&) {};
    const workload::Gemm g =
        workload::gemm(1, 1, depth, hal::ElementType::kFp16, {}, workload::weights_of(weights, std::nullopt, none));
    std::vector<double> numbers;
    for (const arith::Half x : job::stored_weights(g, halves)) numbers.push_back(arith::float_from_half(x));
    return numbers;
  };
  using Row = std::vector<double>;
  EXPECT_EQ(stored("int4", {14, -14, 3, 4.9, 0.9, 5, 7}), (Row{14, -14, 4, 4, 0, 4, 8}));  // scale 2, ties to even
  EXPECT_EQ(stored("mxfp4", {4, -3, 0.24, 0.26, 5.1, 7.5, -0.75}), (Row{4, -3, 0, 0.5, 6, 6, -1}));  // scale 1
  EXPECT_EQ(stored("mxfp4", {0.125, 0.1875, 1, 0.0625}), (Row{0.125, 0.25, 1, 0.0}));  // scale 1/4: halves of it
  EXPECT_EQ(stored("int8", {127, -126.4, 0.5, 1.5}), (Row{127, -126, 0, 2}));
  EXPECT_EQ(stored("fp8_e4m3", {448, 17, -0.0}), (Row{448, 16, 0}));
  EXPECT_EQ(stored("int4", {0, 0}), (Row{0, 0}));
}

}  // namespace
}  // namespace attnvp::runs
