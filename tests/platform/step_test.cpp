// Single steps of a layer: values against golden, work and traffic against counts by hand.
#include "platform/config/step.h"

#include <fmt/format.h>

#include "platform/config/operations.h"
#include "tests/platform/random_jobs.h"
#include "tests/platform/runs.h"

namespace attnvp::runs {
namespace {

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

job::Result run(const MachineConfig& machine, const config::Network& n, const std::string& dataflow, bool full,
                const job::Tiling& tiling = {}) {
  job::Runner runner(machine, config::load_energy("fusemax-45nm"), full);
  job::Schedule schedule = job::parse_dataflow(dataflow);
  schedule.tiling = tiling;
  const job::Tensors tensors = full ? job::random_tensors(n, 7) : job::Tensors{};
  return runner.run(n, schedule, full ? &tensors : nullptr, {});
}

struct Shape {
  std::uint32_t rows, columns, depth, nq, nkv, kd;
};

class GemmByHand : public ::testing::TestWithParam<Shape> {};

// Every block of rows of all cores and of columns has both operands come once for it; sub-tiles are whole passes.
TEST_P(GemmByHand, MovesAndComputesWhatItsTilesSay) {
  const Shape& s = GetParam();
  MachineConfig machine = config::load_hardware("edge");
  machine.mac.rows = machine.mac.columns = 16;
  const job::Tiling tiling = job::parse_tiling(fmt::format("nq={},nkv={},kd={},m0=16,n0=16,k0=16", s.nq, s.nkv, s.kd));
  const config::Network n = config::gemm(s.rows, s.columns, s.depth);
  const job::Result r = run(machine, n, "gemm", true, tiling);
  EXPECT_TRUE(r.golden_checked);
  EXPECT_TRUE(r.golden.passed) << r.golden.to_string();
  const std::uint64_t a = std::uint64_t{s.rows} * s.depth, b = std::uint64_t{s.columns} * s.depth;
  EXPECT_EQ(r.sum("dram", "read_words"),
            a * ceil_div(s.columns, s.nkv) + b * ceil_div(s.rows, std::uint64_t{s.nq} * machine.cores));
  EXPECT_EQ(r.sum("dram", "write_words"), std::uint64_t{s.rows} * s.columns);
  EXPECT_EQ(r.sum("mac", "macs"), a * s.columns);
  const auto passes = [](std::uint64_t extent, std::uint64_t tile) {
    return extent / tile * ceil_div(tile, 16) + ceil_div(extent % tile, 16);
  };
  const std::uint64_t steps = passes(s.rows, s.nq) * passes(s.columns, s.nkv) * s.depth;
  EXPECT_EQ(r.sum("mac", "slots"), steps * 16 * 16);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, GemmByHand,
    ::testing::Values(Shape{64, 64, 64, 32, 32, 32}, Shape{128, 96, 80, 32, 48, 16}, Shape{100, 77, 33, 16, 16, 16},
                      Shape{1, 512, 128, 1, 64, 64}, Shape{7, 1, 300, 4, 1, 64}, Shape{512, 16, 16, 64, 16, 16},
                      Shape{33, 65, 129, 16, 32, 64}, Shape{256, 256, 1, 64, 64, 1}, Shape{48, 200, 64, 24, 40, 32},
                      Shape{17, 17, 17, 17, 17, 17}, Shape{300, 10, 50, 100, 10, 25}, Shape{64, 1000, 8, 32, 128, 8},
                      Shape{1, 1, 1, 1, 1, 1}, Shape{2, 3, 5, 1, 1, 1}, Shape{90, 31, 64, 30, 31, 64},
                      Shape{128, 128, 256, 64, 64, 128}, Shape{250, 40, 70, 50, 20, 7}, Shape{16, 48, 512, 8, 16, 64},
                      Shape{96, 96, 96, 48, 96, 96}, Shape{5, 640, 24, 5, 160, 8}));

class Steps : public ::testing::TestWithParam<int> {};

TEST_P(Steps, AreGoldenOnAnyMachine) {
  for (std::uint32_t i = 0; i < 4; ++i) {
    Random r(static_cast<std::uint32_t>(GetParam()) * 6151 + i);
    MachineConfig machine = config::load_hardware("edge");
    machine.clusters = r.of({1, 2, 3});
    machine.cores = r.from(1, 4);
    machine.mac.rows = machine.mac.columns = r.of({8, 16, 32});
    machine.l1.size_bytes = r.of({128, 512, 2048}) * 1024;
    const bool gemm = r.one_in(2);
    const config::Network n = gemm ? config::gemm(r.from(1, 200), r.from(1, 200), r.from(1, 200))
                                   : config::softmax_rows(r.from(1, 200), r.from(1, 400));
    SCOPED_TRACE(fmt::format("{} on {} clusters of {} cores", n.name, machine.clusters, machine.cores));
    const std::string dataflow = gemm ? "gemm" : "softmax-rows";
    const job::Result full = run(machine, n, dataflow, true);
    EXPECT_TRUE(full.golden_checked);
    EXPECT_TRUE(full.golden.passed) << full.golden.to_string();
    EXPECT_EQ(full.output.size(), std::uint64_t{n.seq_q} * n.seq_kv);
    if (gemm) {
      EXPECT_EQ(full.sum("mac", "macs"), std::uint64_t{n.seq_q} * n.seq_kv * n.emb);
    } else {
      EXPECT_EQ(full.sum("dram", "read_words"), full.output.size());
    }
    EXPECT_EQ(full.sum("dram", "write_words"), full.output.size());
    expect_same_counts(full, run(machine, n, dataflow, false));
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Random, Steps, ::testing::Range(0, 12));

TEST(StepsOfALayer, AreRefusedByOtherDataflows) {
  const MachineConfig machine = config::load_hardware("edge");
  EXPECT_THROW(run(machine, config::gemm(8, 8, 8), "mas", false), config::ConfigError);
  EXPECT_THROW(run(machine, config::gemm(8, 8, 8), "softmax-rows", false), config::ConfigError);
  EXPECT_THROW(run(machine, config::softmax_rows(8, 8), "gemm", false), config::ConfigError);
  EXPECT_THROW(run(machine, config::load_network("bert-base"), "gemm", false), config::ConfigError);
  for (const char* text : {"gemm:", "gemm:1x2", "gemm:1x2x3x4", "gemm:0x1x1", "gemm:1x1x65537", "gemm:axbxc",
                           "softmax:1", "softmax:1x2x3", "gemm:1x2x3,E=4"}) {
    EXPECT_THROW(config::load_network(text), config::ConfigError) << text;
  }
}

}  // namespace
}  // namespace attnvp::runs
