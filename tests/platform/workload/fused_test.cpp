// Products fused with row operations: values against golden and against the operations one by one, traffic against
// counts by hand, times against lower bounds.

#include <fmt/format.h>

#include "platform/run/golden/reference.h"
#include "platform/run/operations.h"
#include "platform/schedule/demand.h"
#include "platform/workload/workload.h"
#include "tests/platform/product_runs.h"
#include "tests/platform/random_jobs.h"

namespace attnvp::runs {
namespace {

using workload::Norm;

workload::Fusion random_fusion(Random& r) {
  workload::Fusion f;
  f.norm = static_cast<Norm>(r.from(0, 2));
  f.has_bias = r.one_in(2);
  f.has_residual = r.one_in(2);
  if (r.one_in(3)) {
    f.head = 2 * r.from(1, 8);
    f.rotated = f.head;
  } else if (r.one_in(2)) {
    f.activation = static_cast<hal::Activation>(r.from(0, 3));
    f.is_gated = r.one_in(2);
  }
  if (r.one_in(4)) f.out = r.one_in(2) ? hal::ElementType::kFp8E4M3 : hal::ElementType::kFp8E5M2;
  return f;
}

class FusedProducts : public ::testing::TestWithParam<int> {};

TEST_P(FusedProducts, AreGoldenOnAnyMachineAndMoveTheCountedBytes) {
  for (std::uint32_t i = 0; i < 5; ++i) {
    Random r(static_cast<std::uint32_t>(GetParam()) * 5003 + i);
    MachineConfig machine = config::load_hardware("edge");
    machine.clusters = r.of({1, 2, 3});
    machine.cores = r.from(1, 3);
    machine.mac.rows = machine.mac.columns = r.of({8, 16});
    machine.vec.lanes = r.of({16, 256});
    machine.l1.size_bytes = r.of({256, 1024}) * 1024;
    const workload::Fusion fusion = random_fusion(r);
    std::uint32_t columns = r.from(1, 120), grain = fusion.is_gated ? 2 : std::max(fusion.head, 1U);
    columns = std::max(columns / grain, 1U) * grain;
    const workload::Gemm n = workload::gemm(r.from(1, 150), columns, r.from(1, 200), hal::ElementType::kFp16, fusion);
    const std::uint32_t nq = std::min(n.rows, r.of({4, 16, 30})),
                        nkv = std::min(columns, std::max(r.of({8, 24, 64}) / grain, 1U) * grain);
    const job::Tiling tiling = job::parse_tiling(fmt::format("nq={},nkv={},kd={},kv={},m0=8,n0=8,k0=8", nq, nkv,
                                                             std::min(n.depth, r.of({25, 64, 500})), r.from(1, 3)));
    SCOPED_TRACE(fmt::format("{} on {} clusters of {} cores", n.name, machine.clusters, machine.cores));
    expect_right_product(machine, n, tiling, 7 + i);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Random, FusedProducts, ::testing::Range(0, 16));

// The result of each row operation is rounded to FP16, so that the fused product has the bits of the operations one by
// one.
TEST(FusedProduct, HasTheBitsOfItsOperations) {
  const MachineConfig machine = config::load_hardware("edge");
  const std::uint32_t rows = 50, columns = 96, depth = 80;
  workload::Fusion fusion;
  fusion.norm = Norm::kRmsNorm;
  fusion.activation = hal::Activation::kSilu;
  fusion.is_gated = fusion.has_residual = true;
  const workload::Gemm fused = workload::gemm(rows, columns, depth, hal::ElementType::kFp16, fusion);
  const job::Tensors t = job::random_tensors(fused, 11);
  const auto part = [&](std::uint64_t from, std::uint64_t count) {
    const auto first = t.v.begin() + static_cast<std::ptrdiff_t>(from);
    return std::vector<arith::Half>(first, first + static_cast<std::ptrdiff_t>(count));
  };
  const job::Tiling products = job::parse_tiling("nq=16,nkv=32,kd=40,m0=16,n0=16,k0=16");
  const auto output = [&](const workload::Workload& n, const std::string& dataflow, const job::Tensors& tensors) {
    return run(machine, n, dataflow, n.gemm() != nullptr ? products : job::Tiling{}, &tensors).output;
  };
  const std::vector<arith::Half> normalised =
      output(workload::norm_rows(Norm::kRmsNorm, rows, depth), "rows", {t.q, part(0, depth), {}});
  const std::vector<arith::Half> product = output(workload::gemm(rows, columns, depth), "gemm", {normalised, t.k, {}});
  const std::vector<arith::Half> gated =
      output(workload::activate_rows(hal::Activation::kSilu, true, rows, columns / 2), "rows", {product, {}, {}});
  const std::vector<arith::Half> sum =
      output(workload::elementwise_rows(hal::Opcode::kAdd, rows, columns / 2), "rows",
             {gated, part(job::fused_operands_of(fused).gamma, std::uint64_t{rows} * columns / 2), {}});
  EXPECT_EQ(output(fused, "gemm", t), sum);
}

// The product with `out` has the bits of the product and a conversion, and writes half of the bytes.
TEST(FusedProduct, HasTheBitsOfItsConversion) {
  for (std::uint32_t i = 0; i < 20; ++i) {
    Random r(7207 + i);
    MachineConfig machine = config::load_hardware("edge");
    machine.clusters = r.of({1, 2, 3});
    machine.cores = r.from(1, 3);
    workload::Fusion apart = random_fusion(r);
    apart.out.reset();
    const bool is_typed = apart.norm == Norm::kNone && r.one_in(2);
    const hal::ElementType type = is_typed ? hal::ElementType::kFp8E4M3 : hal::ElementType::kFp16;
    const std::uint32_t grain = apart.is_gated ? 4 : 2 * std::max(apart.head, 1U);
    const std::uint32_t rows = r.from(1, 100), columns = r.from(1, 5) * grain, depth = r.from(1, 100);
    if (!is_typed && apart.rotated == 0 && r.one_in(2)) apart.down = 2 * r.from(1, 30);
    workload::Fusion fused = apart;
    fused.out = i % 2 == 0 ? hal::ElementType::kFp8E4M3 : hal::ElementType::kFp8E5M2;
    const workload::Gemm n = workload::gemm(rows, columns, depth, type, fused),
                         product = workload::gemm(rows, columns, depth, type, apart);
    SCOPED_TRACE(n.name);
    const job::Tensors tensors = job::random_tensors(n, 7 + i);
    const std::string tiles = fmt::format("nq={},nkv={},kd={},kv=2,m0=8,n0=8,k0=8", std::min(rows, r.of({4, 30})),
                                          std::min(columns, 2 * grain), std::min(depth, r.of({25, 64})));
    const job::RunResult one = run(machine, n, "gemm", job::parse_tiling(tiles), &tensors),
                         two = run(machine, product, "gemm", job::parse_tiling(tiles), &tensors);
    EXPECT_TRUE(one.golden_checked && one.golden.passed) << one.golden.to_string();
    const job::Tensors given{two.output, {}, {}};
    const workload::RowOperation conversion = workload::convert_rows(*fused.out, rows, n.result_columns());
    EXPECT_EQ(one.output, run(machine, conversion, "rows", {}, &given).output);
    EXPECT_EQ(2 * one.sum("dram", "write_words"), std::uint64_t{rows} * n.result_columns());
    EXPECT_EQ(one.sum("dram", "write_words") * 2, two.sum("dram", "write_words"));
    EXPECT_EQ(one.sum("dram", "read_words"), two.sum("dram", "read_words"));
    if (HasFailure()) return;
  }
}

// Golden fails without each of the operations, and with another function.
TEST(FusedProduct, IsCheckedForEachOperation) {
  const MachineConfig machine = config::load_hardware("edge");
  const std::vector<std::pair<const char*, std::vector<const char*>>> cases = {
      {",norm=rmsnorm,bias=1,activation=gelu,residual=1",
       {",norm=rmsnorm,activation=gelu,residual=1", ",norm=rmsnorm,bias=1,activation=gelu",
        ",norm=rmsnorm,bias=1,residual=1", ",norm=rmsnorm,bias=1,activation=silu,residual=1"}},
      {",norm=layernorm", {"", ",norm=rmsnorm"}},
      {",bias=1,activation=silu,gated=1,residual=1", {",activation=silu,gated=1,residual=1"}},
      {",bias=1,out=fp8_e4m3", {",bias=1", ",out=fp8_e4m3", ",bias=1,out=fp8_e5m2"}},
      {",bias=1,rope=8x16", {",bias=1", ",bias=1,rope=8x8", ",bias=1,rope=4x16"}}};
  for (const auto& [settings, others] : cases) {
    const std::string product = "gemm:40x48x64";
    const workload::Workload n = workload::load(product + settings);
    const job::Tensors tensors = job::random_tensors(n, 3);
    const std::vector<arith::Half> output = run(machine, n, "gemm", {}, &tensors).output;
    EXPECT_TRUE(job::check_operation(n, tensors, output).passed) << settings;
    for (const char* other : others) {
      const workload::Workload wrong = workload::load(product + other);
      EXPECT_FALSE(job::check_operation(wrong, tensors, output).passed) << settings << " as " << other;
    }
  }
}

// Operands of one byte have FP16 results, to which the epilogue applies.
TEST(FusedProduct, TakesShortTypesWithAnEpilogue) {
  const MachineConfig machine = config::load_hardware("edge");
  for (const char* type : {"int8", "fp8_e4m3"}) {
    const workload::Workload n =
        workload::load(fmt::format("gemm:70x64x100,type={},bias=1,activation=silu,gated=1,residual=1", type));
    const job::Tensors tensors = job::random_tensors(n, 5);
    const job::RunResult r = run(machine, n, "gemm", {}, &tensors);
    EXPECT_TRUE(r.golden_checked && r.golden.passed) << type << ": " << r.golden.to_string();
  }
}

// Random sequences, heads, cached lengths and tiles: the values are those of the product without a cache, and the cache
// has no other rows written than the new ones (checker).
TEST(CacheAppend, HasTheBitsOfTheProductAndItsTraffic) {
  for (std::uint32_t i = 0; i < 24; ++i) {
    Random r(917 + i);
    MachineConfig machine = config::load_hardware("edge");
    machine.clusters = r.of({1, 2, 3});
    machine.cores = r.from(1, 3);
    machine.l1.size_bytes = r.of({256, 1024}) * 1024;
    workload::Fusion apart;
    apart.norm = r.one_in(2) ? Norm::kRmsNorm : Norm::kNone;
    apart.has_bias = r.one_in(2);
    const std::uint32_t emb = 2 * r.from(1, 12), heads = r.from(1, 4), sequences = r.from(1, 5),
                        tokens = r.one_in(2) ? 1 : r.from(2, 40), columns = (r.from(0, 5) + 2 * heads) * emb;
    if (r.one_in(2)) {
      apart.head = emb;
      apart.rotated = columns - heads * emb;  // Q and K
    }
    const hal::ElementType type = apart.any() || r.one_in(2) ? hal::ElementType::kFp16 : hal::ElementType::kBf16;
    const std::uint32_t rows = sequences * tokens, depth = r.from(1, 100);
    workload::Fusion fused = apart;
    fused.append = {sequences, heads, emb, tokens + (r.one_in(4) ? 0 : r.from(1, 50))};
    const workload::Gemm n = workload::gemm(rows, columns, depth, type, fused);
    const std::uint32_t nkv = std::min(columns, std::max(r.of({8, 24, 64}) / emb, 1U) * emb);
    const job::Tiling tiling =
        job::parse_tiling(fmt::format("nq={},nkv={},kd={},kv={},m0=8,n0=8,k0=8", std::min(rows, r.of({1, 4, 30})), nkv,
                                      std::min(depth, r.of({25, 500})), r.from(1, 3)));
    SCOPED_TRACE(fmt::format("{} on {} clusters of {} cores", n.name, machine.clusters, machine.cores));
    const job::RunResult result = expect_right_product(machine, n, tiling, 7 + i);
    const workload::Gemm other = workload::gemm(rows, columns, depth, type, apart);
    const job::Tensors tensors = job::random_tensors(n, 7 + i);
    EXPECT_EQ(result.output, run(machine, other, "gemm", tiling, &tensors).output);
    if (HasFailure()) return;
  }
}

TEST(CacheAppend, IsRefusedWhereItCannotBeExpressed) {
  for (const char* settings :
       {"append=2x1x8", "append=3x1x8x9", "append=2x1x8x3", "append=2x3x8x9", "append=2x1x7x9", "append=0x1x8x9",
        "append=2x1x8x9,residual=1", "append=2x1x8x9,activation=silu", "append=1x2x8x4194304,append=1x1x8x9"}) {
    EXPECT_THROW(workload::load(fmt::format("gemm:8x32x16,{}", settings)), config::ConfigError) << settings;
  }
  EXPECT_THROW(workload::load("gemm:1x65536x16,append=1x256x128x4194304"), config::ConfigError);
  const MachineConfig machine = config::load_hardware("edge");
  const workload::Workload n = workload::load("gemm:8x32x16,append=2x1x8x9");
  EXPECT_EQ(n.name(), "gemm:8x32x16,append=2x1x8x9");
  EXPECT_THROW(run(machine, n, "gemm-panels", {}, nullptr), config::ConfigError);
  EXPECT_THROW(run(machine, n, "gemm", job::parse_tiling("nq=4,nkv=12,kd=8,kv=2,m0=4,n0=4,k0=4"), nullptr),
               job::TilingError);
  EXPECT_EQ(job::dataflows_for(n, schedule::compiled_firmware()).size(), 1U);
}

// The last row block has rows for one of two cores, between blocks that use both.
TEST(Product, OrdersAccessesOfCoresThatRestInBetween) {
  const MachineConfig machine = config::load_hardware("edge");
  for (const std::string settings : {"", ",bias=1,activation=silu,gated=1", ",weights=int4,bias=1"}) {
    for (const int ring : {1, 2, 3}) {
      const workload::Workload n = workload::load("gemm:40x96x200" + settings);
      const job::Tiling tiling = job::parse_tiling(fmt::format("nq=16,nkv=16,kd=100,kv={},m0=16,n0=16,k0=16", ring));
      const job::Tensors tensors = job::random_tensors(n, 5);
      const job::RunResult r = run(machine, n, "gemm", tiling, &tensors);
      EXPECT_TRUE(r.golden.passed) << n.name();
      const schedule::Job made = job::make_job(machine, n, r.schedule);
      for (const schedule::check::Finding& f : schedule::check::check(made, machine, {0}).findings) {
        ADD_FAILURE() << n.name() << ": " << to_text(f);
      }
    }
  }
}

TEST(FusedProduct, NeedsRoomForRowsOfA) {
  MachineConfig machine = config::load_hardware("edge");
  machine.l1.size_bytes = 64 * 1024;
  EXPECT_THROW(run(machine, workload::load("gemm:4x64x20000,norm=rmsnorm"), "gemm", {}, nullptr), job::RunError);
  EXPECT_NO_THROW(run(machine, workload::load("gemm:4x64x20000"), "gemm", {}, nullptr));
}

TEST(FusedProduct, TakesTilesOfWholePairsAndHeads) {
  const MachineConfig machine = config::load_hardware("edge");
  const job::Tiling odd = job::parse_tiling("nq=4,nkv=5,kd=8,kv=2,m0=4,n0=4,k0=4");
  for (const char* text : {"gemm:8x20x8,activation=silu,gated=1", "gemm:8x20x8,rope=4x8"}) {
    EXPECT_THROW(run(machine, workload::load(text), "gemm", odd, nullptr), job::TilingError) << text;
    EXPECT_NO_THROW(run(machine, workload::load(text), "gemm", {}, nullptr)) << text;
  }
}

TEST(FusedProduct, RefusesWhatItCannotExpress) {
  for (const char* settings : {"bias=2",
                               "bias",
                               "bias=1,bias=1",
                               "norm=none",
                               "activation=tanh",
                               "gated=1",
                               "activation=silu,gated=yes",
                               "rope=8",
                               "rope=3x6",
                               "rope=8x12",
                               "rope=8x64",
                               "rope=8x8,activation=silu",
                               "scale=2",
                               "type=bf16,bias=1",
                               "type=int8,norm=rmsnorm",
                               "bias=1,",
                               "residual=1;bias=1",
                               "out=int8",
                               "out=fp16",
                               "out=int4",
                               "out",
                               "out=fp8_e4m3,type=bf16",
                               "out=fp8_e4m3,append=2x1x8x9"}) {
    EXPECT_THROW(workload::load(fmt::format("gemm:8x32x16,{}", settings)), config::ConfigError) << settings;
  }
  EXPECT_THROW(workload::load("gemm:8x31x16,activation=silu,gated=1"), config::ConfigError);
  EXPECT_EQ(workload::load("gemm:8x32x16,residual=1,bias=1,norm=rmsnorm").name(),
            "gemm:8x32x16,norm=rmsnorm,bias=1,residual=1");
  EXPECT_EQ(workload::load("gemm:8x32x16,out=fp8_e5m2,bias=1").name(), "gemm:8x32x16,bias=1,out=fp8_e5m2");
}

}  // namespace
}  // namespace attnvp::runs
