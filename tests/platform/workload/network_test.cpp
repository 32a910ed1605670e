// Networks of two products in one schedule: values against golden and against the operations one by one, traffic
// against counts by hand.
#include <fmt/format.h>

#include "platform/run/golden/reference.h"
#include "platform/run/operations.h"
#include "platform/workload/workload.h"
#include "tests/platform/product_runs.h"
#include "tests/platform/random_jobs.h"

namespace attnvp::runs {
namespace {

using workload::Norm;

MachineConfig random_small_machine(Random& r) {
  MachineConfig machine = config::load_hardware("edge");
  machine.clusters = r.of({1, 1, 2, 3});
  machine.cores = r.from(1, 3);
  machine.mac.rows = machine.mac.columns = r.of({8, 16});
  machine.vec.lanes = r.of({16, 256});
  machine.l1.size_bytes = r.of({256, 1024}) * 1024;
  return machine;
}

workload::Gemm random_pair(Random& r) {
  workload::Fusion f;
  f.norm = static_cast<Norm>(r.from(0, 2));
  f.has_bias = r.one_in(2);
  if (!r.one_in(3)) {
    f.activation = static_cast<hal::Activation>(r.from(0, 3));
    f.is_gated = r.one_in(2);
  }
  f.down = r.from(1, 100);
  f.has_residual = r.one_in(2);
  const std::uint32_t hidden = r.from(1, 80), columns = f.is_gated ? 2 * hidden : hidden;
  workload::WeightType weights;
  if (r.one_in(3)) {
    const workload::WeightFormat& format = workload::kWeightFormats[r.from(0, 3)];
    weights = {&format, static_cast<std::uint32_t>(format.groups[0])};
  }
  return workload::gemm(r.from(1, 150), columns, r.from(2, 120), hal::ElementType::kFp16, f, weights);
}

job::Tiling random_tiling(Random& r, const workload::Gemm& n) {
  const std::uint32_t nkv = r.of({8, 24, 64});
  return job::parse_tiling(fmt::format("nq={},nkv={},kd={},kv={},m0=8,n0=8,k0=8", std::min(n.rows, r.of({4, 16, 30})),
                                       std::min(n.columns, nkv), std::min(n.depth / 2 * 2, r.of({26, 64, 500})),
                                       r.from(1, 3)));
}

// Results of the operations one by one.
std::vector<arith::Half> one_by_one(const MachineConfig& machine, const workload::Gemm& n, const job::Tensors& t) {
  const workload::Fusion& f = n.fusion;
  const auto output = [&](const workload::Workload& w, const job::Tensors& tensors) {
    job::Tiling tiling;
    if (const workload::Gemm* g = w.gemm()) {
      tiling = job::parse_tiling(fmt::format("nq={},nkv={},kd={},kv=2,m0=8,n0=8,k0=8", std::min(g->rows, 16U),
                                             std::min(g->columns, 24U), std::min(g->depth, 40U)));
    }
    return run(machine, w, w.gemm() != nullptr ? "gemm" : "rows", tiling, &tensors).output;
  };
  const auto part = [](const std::vector<arith::Half>& all, std::uint64_t from, std::uint64_t count) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(from);
    return std::vector<arith::Half>(first, first + static_cast<std::ptrdiff_t>(count));
  };
  const job::FusedOperands sizes = job::fused_operands_of(n);
  const std::uint64_t bias_at = sizes.gamma + sizes.beta, residual_at = bias_at + sizes.bias;
  std::vector<arith::Half> x = t.q;
  if (f.norm != Norm::kNone) {
    const bool is_centred = f.norm == Norm::kLayerNorm;
    x = output(workload::norm_rows(f.norm, n.rows, n.depth),
               {x, part(t.v, 0, n.depth), part(t.v, sizes.gamma, is_centred ? n.depth : 0)});
  }
  workload::Fusion biased;
  biased.has_bias = f.has_bias;
  x = output(workload::gemm(n.rows, n.columns, n.depth, n.type, biased, n.weights),
             {x, part(t.k, 0, std::uint64_t{n.columns} * n.depth), part(t.v, bias_at, sizes.bias)});
  if (f.activation)
    x = output(workload::activate_rows(*f.activation, f.is_gated, n.rows, n.first_columns()), {x, {}, {}});
  x = output(workload::gemm(n.rows, f.down, n.first_columns(), n.type, {}, n.weights),
             {x, part(t.k, n.second_weights_at(), std::uint64_t{f.down} * n.first_columns()), {}});
  if (!f.has_residual) return x;
  return output(workload::elementwise_rows(hal::Opcode::kAdd, n.rows, f.down),
                {x, part(t.v, residual_at, std::uint64_t{n.rows} * f.down), {}});
}

class Networks : public ::testing::TestWithParam<int> {};

TEST_P(Networks, AreGoldenHaveTheBitsOfTheirOperationsAndMoveTheCountedBytes) {
  for (std::uint32_t i = 0; i < 5; ++i) {
    Random r(static_cast<std::uint32_t>(GetParam()) * 7001 + i);
    const MachineConfig machine = random_small_machine(r);
    const workload::Gemm n = random_pair(r);
    SCOPED_TRACE(fmt::format("{} on {} clusters of {} cores", n.name, machine.clusters, machine.cores));
    const job::RunResult fused = expect_right_product(machine, n, random_tiling(r, n), 7 + i);
    EXPECT_EQ(fused.output, one_by_one(machine, n, job::random_tensors(n, 7 + i)));
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Random, Networks, ::testing::Range(0, 12));

// Golden fails with weights of the second product that are others, and without each of the operations.
TEST(Network, IsCheckedForEachOperation) {
  const MachineConfig machine = config::load_hardware("edge");
  const workload::Workload n = workload::load("gemm:40x48x64,activation=silu,gated=1,down=24,residual=1");
  job::Tensors tensors = job::random_tensors(n, 3);
  const std::vector<arith::Half> output = run(machine, n, "gemm", {}, &tensors).output;
  EXPECT_TRUE(job::check_operation(n, tensors, output).passed);
  for (const char* other :
       {"gemm:40x48x64,activation=silu,gated=1,down=24", "gemm:40x48x64,activation=gelu,gated=1,down=24,residual=1"}) {
    EXPECT_FALSE(job::check_operation(workload::load(other), tensors, output).passed) << other;
  }
  std::swap(tensors.k[n.gemm()->second_weights_at()], tensors.k.back());
  EXPECT_FALSE(job::check_operation(n, tensors, output).passed);
}

// A, B, E, the residual tensor and D; what is between the products stays in L1.
TEST(Network, ReadsWeightsOnceForEachRowBlock) {
  const MachineConfig machine = config::load_hardware("edge-16nm");
  ASSERT_EQ(machine.clusters, 1U);
  constexpr std::uint64_t kRows = 256, kHidden = 384, kModel = 128;
  const workload::Workload n =
      workload::load("gemm:256x768x128,norm=rmsnorm,activation=silu,gated=1,down=128,residual=1");
  for (const std::uint64_t nq : {16, 32, 64}) {
    const job::Tiling tiling = job::parse_tiling(fmt::format("nq={},nkv=64,kd=64,kv=2,m0=16,n0=16,k0=16", nq));
    const job::RunResult r = run(machine, n, "gemm", tiling, nullptr);
    const std::uint64_t row_blocks = parts_of(kRows, nq * machine.cores);
    const std::uint64_t weights = 2 * kHidden * kModel + kModel * kHidden, a = kRows * kModel, gamma = kModel;
    EXPECT_EQ(r.sum("dram", "read_words"), a + gamma + row_blocks * weights + kRows * kModel);
    EXPECT_EQ(r.sum("dram", "write_words"), kRows * kModel);
    EXPECT_EQ(r.sum("mac", "macs"), kRows * weights);
  }
}

TEST(Network, NeedsRoomForItsRows) {
  MachineConfig machine = config::load_hardware("edge");
  machine.l1.size_bytes = 64 * 1024;
  EXPECT_THROW(run(machine, workload::load("gemm:4x40000x64,down=64"), "gemm", {}, nullptr), job::RunError);
  EXPECT_NO_THROW(run(machine, workload::load("gemm:4x40000x64"), "gemm", {}, nullptr));
}

TEST(Network, RefusesWhatItCannotExpress) {
  for (const char* settings : {"down=0", "down", "down=8x8", "down=8,down=8", "down=8,type=int8", "down=8,type=bf16",
                               "down=8,rope=8x8", "down=8,gated=1"}) {
    EXPECT_THROW(workload::load(fmt::format("gemm:8x32x16,{}", settings)), config::ConfigError) << settings;
  }
  EXPECT_EQ(workload::load("gemm:8x32x16,residual=1,down=8,activation=relu,bias=1").name(),
            "gemm:8x32x16,bias=1,activation=relu,down=8,residual=1");
}

}  // namespace
}  // namespace attnvp::runs
