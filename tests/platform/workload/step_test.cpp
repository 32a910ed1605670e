// Single steps of a layer: values against golden, work and traffic against counts by hand.

#include <fmt/format.h>

#include "platform/run/golden/tensors.h"
#include "platform/run/operations.h"
#include "platform/workload/workload.h"
#include "tests/platform/random_jobs.h"
#include "tests/platform/runs.h"
#include "tests/support/tuned.h"

namespace attnvp::runs {
namespace {

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

job::RunResult run(const MachineConfig& machine, const workload::Workload& n, const std::string& dataflow, bool full,
                   const job::Tiling& tiling = {}) {
  runs::Runner runner(machine, config::load_energy("fusemax-45nm"), full);
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
  const workload::Workload n = workload::gemm(s.rows, s.columns, s.depth);
  const job::RunResult r = run(machine, n, "gemm", true, tiling);
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
    const workload::Workload n =
        gemm ? workload::Workload(workload::gemm(r.from(1, 200), r.from(1, 200), r.from(1, 200)))
             : workload::softmax_rows(r.from(1, 200), r.from(1, 400));
    SCOPED_TRACE(fmt::format("{} on {} clusters of {} cores", n.name(), machine.clusters, machine.cores));
    const std::string dataflow = gemm ? "gemm" : "softmax-rows";
    const job::RunResult full = run(machine, n, dataflow, true);
    EXPECT_TRUE(full.golden_checked);
    EXPECT_TRUE(full.golden.passed) << full.golden.to_string();
    EXPECT_EQ(full.output.size(), std::uint64_t{n.extents().seq_q} * n.extents().seq_kv);
    if (gemm) {
      EXPECT_EQ(full.sum("mac", "macs"), std::uint64_t{n.extents().seq_q} * n.extents().seq_kv * n.extents().emb);
    } else {
      EXPECT_EQ(full.sum("dram", "read_words"), full.output.size());
    }
    EXPECT_EQ(full.sum("dram", "write_words"), full.output.size());
    expect_same_counts(full, run(machine, n, dataflow, false));
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Random, Steps, ::testing::Range(0, 12));

// Of every type, on machines whose arrays take short ones faster: golden, and operands as short as they are.
class TypedProducts : public ::testing::TestWithParam<hal::ElementType> {};

TEST_P(TypedProducts, AreGoldenOnAnyMachine) {
  for (std::uint32_t i = 0; i < 8; ++i) {
    Random r(static_cast<std::uint32_t>(GetParam()) * 4001 + i);
    MachineConfig machine = config::load_hardware("edge");
    machine.clusters = r.of({1, 2});
    machine.cores = r.from(1, 3);
    machine.mac.rows = machine.mac.columns = r.of({8, 16});
    machine.mac.int8_rate = machine.mac.fp8_rate = r.of({1, 2});
    machine.l1.size_bytes = r.of({128, 512}) * 1024;
    const workload::Gemm n = workload::gemm(r.from(1, 150), r.from(1, 150), r.from(1, 300), GetParam());
    const std::uint32_t kd = r.one_in(2) ? std::min(n.depth, 37U) : n.depth;  // in slices, or at once
    SCOPED_TRACE(fmt::format("{} kd={} on {} clusters of {} cores", n.name, kd, machine.clusters, machine.cores));
    const job::Tiling tiling = job::parse_tiling(fmt::format("kd={}", kd));
    const job::RunResult full = run(machine, n, "gemm", true, tiling);
    EXPECT_TRUE(full.golden_checked);
    EXPECT_TRUE(full.golden.passed) << full.golden.to_string();
    EXPECT_EQ(full.sum("mac", "macs"), std::uint64_t{n.rows} * n.columns * n.depth);
    const auto tile = [&](const char* name) { return full.schedule.tiling[name]; };
    const std::uint64_t elements =
        std::uint64_t{n.rows} * n.depth * ceil_div(n.columns, tile("nkv")) +
        std::uint64_t{n.columns} * n.depth * ceil_div(n.rows, std::uint64_t{tile("nq")} * machine.cores);
    // An access of an odd number of bytes counts as a word more.
    const std::uint64_t bytes = elements * hal::element_bytes(n.type), counted = 2 * full.sum("dram", "read_words");
    EXPECT_GE(counted, bytes);
    EXPECT_LE(counted, hal::element_bytes(n.type) == 2 ? bytes : 2 * bytes);
    EXPECT_EQ(full.sum("dram", "write_words"), full.output.size());
    expect_same_counts(full, run(machine, n, "gemm", false, tiling));
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, TypedProducts,
                         ::testing::Values(hal::ElementType::kBf16, hal::ElementType::kFp8E4M3,
                                           hal::ElementType::kFp8E5M2, hal::ElementType::kInt8));

struct RowsShape {
  const char* network;
  std::uint64_t read, written;  // elements
  std::uint64_t vec_cycles;     // of all commands: rows or row blocks of nq = 16
};
void PrintTo(const RowsShape& s, std::ostream* out) { *out << s.network; }

class RowsByHand : public ::testing::TestWithParam<RowsShape> {};

// What a step has to read and write crosses DRAM once; lanes work for as long as the operations of its elements take.
TEST_P(RowsByHand, MovesAndComputesWhatThereIs) {
  const RowsShape& s = GetParam();
  const MachineConfig machine = config::load_hardware("edge");
  const workload::Workload n = workload::load(s.network);
  const job::Tiling tiling =
      job::parse_tiling(fmt::format("nq={},nkv={}", std::min(n.extents().seq_q, 16U), n.extents().seq_kv));
  const job::RunResult r = run(machine, n, "rows", true, tiling);
  EXPECT_TRUE(r.golden_checked);
  EXPECT_TRUE(r.golden.passed) << r.golden.to_string();
  EXPECT_EQ(r.sum("dram", "read_words"), s.read);
  EXPECT_EQ(r.sum("dram", "write_words"), s.written);
  EXPECT_EQ(r.sum("vec", "busy_cycles") - r.sum("vec", "stall_cycles"), s.vec_cycles);
  // Never faster than DRAM's 8 bytes a cycle, or than two cores.
  EXPECT_GE(r.cycles, std::max((s.read + s.written) / 4, s.vec_cycles / 2));
}

// Lane-cycles: 2 a sum or product, 20 an exponential, 6 a quotient or root; 256 lanes. A row of a norm starts on the
// first lane, a block's rows have their own operations together.
INSTANTIATE_TEST_SUITE_P(
    Shapes, RowsByHand,
    ::testing::Values(
        RowsShape{"layernorm:64x768", 64 * 768 + 2 * 768, 64 * 768, 64 * 42 + 4 * 2},  // 16 x 22 / 256
        RowsShape{"layernorm:16x100", 16 * 100 + 200, 16 * 100, 16 * 6 + 2},
        RowsShape{"rmsnorm:48x768", 48 * 768 + 768, 48 * 768, 48 * 24 + 3},  // 16 x 16 / 256
        RowsShape{"rmsnorm:1x4096", 2 * 4096, 4096, 128 + 1}, RowsShape{"add:64x256", 2 * 64 * 256, 64 * 256, 64 * 2},
        RowsShape{"gelu:32x512", 32 * 512, 32 * 512, 32 * 116},  // 58 x 2
        RowsShape{"gelu_tanh:32x512", 32 * 512, 32 * 512, 32 * 76},
        RowsShape{"swiglu:32x512", 64 * 512, 32 * 512, 32 * 60}, RowsShape{"silu:16x256", 16 * 256, 16 * 256, 16 * 28},
        RowsShape{"relu:16x256", 16 * 256, 16 * 256, 16 * 2}, RowsShape{"copy:16x256", 16 * 256, 16 * 256, 0},
        RowsShape{"rope:64x512x128", 64 * 512 + 64 * 128, 64 * 512, 64 * 12}));

// A norm of a sum of two tensors loads its first result again; each of four blocks of rows its 8 bytes of positions.
TEST(StepsOfALayer, ChainedReadsComeAgain) {
  const MachineConfig machine = config::load_hardware("edge");
  const job::Tiling tiling = job::parse_tiling("nq=16");
  for (const auto& [text, more] : {std::pair{"rmsnorm:64x512,residual=1", 64 * 512U}, {"rope:64x512x128", 4 * 4U}}) {
    const workload::Workload n = workload::load(text);
    const job::RunResult once = run(machine, n, "rows", true, tiling),
                         chained = run(machine, n, "rows:reads=chained", true, tiling);
    EXPECT_TRUE(chained.golden_checked && chained.golden.passed) << chained.golden.to_string();
    EXPECT_EQ(chained.sum("dram", "read_words"), once.sum("dram", "read_words") + more);
    EXPECT_EQ(chained.sum("dram", "write_words"), once.sum("dram", "write_words"));
    EXPECT_GT(chained.cycles, once.cycles);
  }
}

// Columns in four turns take four latencies of 10 us. Four blocks of 2,048 columns a turn are in L1 together, so that
// their turns overlap. The next four wait for one more latency, until the rows before them are stored.
TEST(StepsOfALayer, ColumnsInTurnsTakeALatencyEach) {
  const MachineConfig machine = config::load_hardware(
      "edge",
      {"clusters=1", "cores=1", "dram.latency=10us", "dram.bandwidth=1TB/s", "dma.burst=16KiB", "dma.outstanding=64"});
  const std::uint64_t latency = 37500;  // cycles
  const job::Tiling tiling = job::parse_tiling("nq=1,nkv=8192");
  for (const auto& [text, latencies] :
       {std::pair{"add:1x8192", 4U}, {"add:4x8192", 4U}, {"add:8x8192", 9U}, {"rmsnorm:1x8192,residual=1", 4U}}) {
    SCOPED_TRACE(text);
    const workload::Workload n = workload::load(text);
    const job::RunResult whole = run(machine, n, "rows", true, tiling),
                         turns = run(machine, n, "rows:turn=2048", true, tiling);
    EXPECT_TRUE(turns.golden_checked && turns.golden.passed) << turns.golden.to_string();
    EXPECT_EQ(turns.sum("dram", "read_words"), whole.sum("dram", "read_words"));
    EXPECT_EQ(turns.cycles / latency, latencies);
    EXPECT_EQ(run(machine, n, "rows:turn=8192", true, tiling).cycles, whole.cycles);
  }
}

// Blocks of one turn of 2,048 columns: four are in L1 together and load in one latency. Otherwise three are, so that
// the fourth takes another one.
TEST(StepsOfALayer, AsManyBlocksAreLoadedAsTheirTurnsAllow) {
  const MachineConfig machine = config::load_hardware(
      "edge",
      {"clusters=1", "cores=1", "dram.latency=10us", "dram.bandwidth=1TB/s", "dma.burst=16KiB", "dma.outstanding=64"});
  const std::uint64_t latency = 37500;  // cycles
  const job::Tiling tiling = job::parse_tiling("nq=1,nkv=2048");
  const workload::Workload n = workload::load("silu:4x2048");
  const job::RunResult turns = run(machine, n, "rows:turn=2048", true, tiling);
  EXPECT_TRUE(turns.golden_checked && turns.golden.passed) << turns.golden.to_string();
  EXPECT_EQ(turns.cycles / latency, 1U);
  EXPECT_EQ(run(machine, n, "rows", true, tiling).cycles / latency, 2U);
}

// Some step on rows.
workload::Workload random_rows(Random& r) {
  const std::uint32_t rows = r.from(1, 200), columns = r.from(1, 400);
  switch (r.from(0, 4)) {
    case 0:
      return workload::norm_rows(r.one_in(2) ? workload::Norm::kLayerNorm : workload::Norm::kRmsNorm, rows, columns,
                                 r.one_in(3));
    case 1:
      return workload::elementwise_rows(hal::Opcode::kAdd, rows, columns);
    case 4:
      return workload::copy_rows(rows, columns);
    case 2:
      return workload::activate_rows(static_cast<hal::Activation>(r.from(0, 3)), r.one_in(2), rows, columns);
    default: {
      const std::uint32_t head = 2 * r.from(1, 40);
      return workload::rotate_rows(rows, head * r.from(1, 6), head);
    }
  }
}

class RowSteps : public ::testing::TestWithParam<int> {};

TEST_P(RowSteps, AreGoldenOnAnyMachine) {
  for (std::uint32_t i = 0; i < 5; ++i) {
    Random r(static_cast<std::uint32_t>(GetParam()) * 7919 + i);
    MachineConfig machine = config::load_hardware("edge");
    machine.clusters = r.of({1, 2, 3, 7});
    machine.cores = r.from(1, 4);
    machine.mac.rows = machine.mac.columns = r.of({8, 16, 32});
    machine.vec.lanes = r.of({4, 64, 256});
    machine.l0.size_bytes = r.of({1, 64}) * 1024;
    machine.l1.size_bytes = r.of({64, 512, 2048}) * 1024;
    machine.control.lists = r.one_in(4);
    const workload::Workload n = random_rows(r);
    SCOPED_TRACE(fmt::format("{} on {} clusters of {} cores", n.name(), machine.clusters, machine.cores));
    const job::RunResult full = run(machine, n, "rows", true);
    EXPECT_TRUE(full.golden_checked);
    EXPECT_TRUE(full.golden.passed) << full.golden.to_string();
    const job::Operands operands = job::operands_of(n);
    const std::uint64_t blocks = ceil_div(n.extents().seq_q, full.schedule.tiling["nq"]) *
                                 ceil_div(n.extents().seq_kv, full.schedule.tiling["nkv"]);
    const bool norm = n.rows()->opcode == hal::Opcode::kNorm;
    const std::uint64_t vectors = norm ? std::min<std::uint64_t>(machine.clusters, blocks) : 1;  // once a cluster
    const std::uint64_t needed = operands.q + vectors * (operands.k + operands.v),
                        read = full.sum("dram", "read_words");
    EXPECT_GE(read, needed);
    EXPECT_EQ(read > needed, machine.control.lists);  // which are in DRAM, too
    EXPECT_EQ(full.sum("dram", "write_words"), full.output.size());
    EXPECT_EQ(full.output.size(), n.rows()->result_elements());
    expect_same_counts(full, run(machine, n, "rows", false));
    if (machine.l1.size_bytes == 2048 * 1024 && machine.cores <= 2) {
      const job::Tiling rows = job::parse_tiling(fmt::format("nq=1,nkv={}", n.extents().seq_kv));
      const job::RunResult turns = run(machine, n, "rows:turn=256,reads=chained", true, rows);
      EXPECT_TRUE(turns.golden_checked && turns.golden.passed) << turns.golden.to_string();
    }
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Random, RowSteps, ::testing::Range(0, 12));

// Golden has to notice one element that is a little off.
TEST(StepsOfALayer, AreHeldToGoldenElementByElement) {
  for (const char* text : {"layernorm:5x40", "rmsnorm:5x40", "rmsnorm:5x40,residual=1", "add:5x40", "gelu:5x40",
                           "swiglu:5x40", "copy:5x40", "rope:5x40x8"}) {
    const workload::Workload n = workload::load(text);
    const job::Tensors tensors = job::random_tensors(n, 3);
    const MachineConfig machine = config::load_hardware("edge");
    runs::Runner runner(machine, config::load_energy("fusemax-45nm"), true);
    job::RunResult r = runner.run(n, job::parse_dataflow("rows"), &tensors, {});
    EXPECT_TRUE(job::check_operation(n, tensors, r.output).passed) << text;
    std::size_t place = 77;
    while ((r.output[place] & 0x7C00) == 0) ++place;  // no zero
    r.output[place] = static_cast<arith::Half>(r.output[place] + 3);
    const job::GoldenResult golden = job::check_operation(n, tensors, r.output);
    EXPECT_FALSE(golden.passed) << text;
    EXPECT_EQ(golden.row * n.extents().seq_kv + golden.column, place) << text;
  }
}

TEST(StepsOfALayer, NeedRoomForWholeRowsWhereTheyAreReduced) {
  MachineConfig machine = config::load_hardware("edge");
  machine.l1.size_bytes = 64 * 1024;
  EXPECT_THROW(run(machine, workload::load("layernorm:4x20000"), "rows", false), job::RunError);
  EXPECT_NO_THROW(run(machine, workload::load("add:4x20000"), "rows", false));
  EXPECT_THROW(run(machine, workload::load("layernorm:4x200"), "rows", false, job::parse_tiling("nkv=100")),
               config::ConfigError);
}

TEST(StepsOfALayer, AreRefusedByOtherDataflows) {
  const MachineConfig machine = config::load_hardware("edge");
  EXPECT_THROW(run(machine, workload::gemm(8, 8, 8), "mas", false), config::ConfigError);
  EXPECT_THROW(run(machine, workload::gemm(8, 8, 8), "softmax-rows", false), config::ConfigError);
  EXPECT_THROW(run(machine, workload::softmax_rows(8, 8), "gemm", false), config::ConfigError);
  EXPECT_THROW(run(machine, workload::load("bert-base"), "gemm", false), config::ConfigError);
  EXPECT_THROW(run(machine, workload::load("bert-base"), "rows", false), config::ConfigError);
  EXPECT_THROW(run(machine, workload::elementwise_rows(hal::Opcode::kAdd, 8, 8), "softmax-rows", false),
               config::ConfigError);
  EXPECT_THROW(run(machine, workload::softmax_rows(8, 8), "rows", false), config::ConfigError);
  for (const char* text :
       {"gemm:",       "gemm:1x2",         "gemm:1x2x3x4",   "gemm:0x1x1",  "gemm:1x1x65537", "gemm:axbxc",
        "softmax:1",   "softmax:1x2x3",    "gemm:1x2x3,E=4", "layernorm:8", "add:1x0",        "gelu:1x2x3",
        "swiglu:x",    "rope:8x8",         "rope:8x9x3",     "rope:8x10x4", "norm:1x2",       "gemm:1x2x3,type=int4",
        "gemm:1x2x3,", "add:1x2,type=int8"}) {
    EXPECT_THROW(workload::load(text), config::ConfigError) << text;
  }
}

// Two chained GEMMs of the public artefact of TileFlow (MICRO 2023, AE/validation/accelerator: M = L = 512, N = K = 64,
// row blocks of 16): 34,078,720 bits come from memory, 524,288 go to it.
TEST(Chain, MovesTheBytesOfTileflowsRtl) {
  const workload::Workload network = workload::load("H=1,N=512,E=64,softmax=none");
  job::Schedule schedule = job::parse_dataflow("flat");
  schedule.tiling = job::parse_tiling("nq=16,kv=stream");
  runs::Runner runner(config::load_hardware("edge", {"cores=1"}), config::load_energy("fusemax-45nm"), false);
  const job::RunResult r = runner.run(network, schedule, nullptr, {});
  EXPECT_EQ(r.sum("dram", "read_words"), 34'078'720U / 16);
  EXPECT_EQ(r.sum("dram", "write_words"), 524'288U / 16);
}

// The second product may be wider or narrower than the first is deep: each operand comes once, or each row block's.
TEST(Chain, TakesASecondProductOfAnotherWidth) {
  for (const char* width : {"24", "112"}) {
    for (const char* dataflow : {"flat", "chain"}) {
      SCOPED_TRACE(std::string(dataflow) + " " + width);
      const workload::Workload network =
          workload::load(std::string("H=2,NQ=200,NKV=300,E=64,softmax=none,EV=") + width);
      runs::Runner runner(config::load_hardware("edge"), config::load_energy("fusemax-45nm"), true);
      const job::Tensors tensors = job::random_tensors(network, 5);
      const job::RunResult r = runner.run(network, job::parse_dataflow(dataflow), &tensors, {});
      EXPECT_TRUE(r.golden_checked && r.golden.passed) << r.golden.to_string();
      const std::uint64_t columns = network.attention().value_emb;
      EXPECT_EQ(r.sum("mac", "macs"), 2ULL * 200 * 300 * (64 + columns));
      EXPECT_EQ(r.sum("dram", "write_words"), 2ULL * 200 * columns);
      EXPECT_GE(r.sum("dram", "read_words"), 2ULL * (200 * 64 + 300 * 64 + 300 * columns));
    }
  }
}

// A vector times a matrix on a GPU takes DRAM's time for the matrix, which comes once.
TEST(ProductsOnAGpu, OfAVectorTakeDramsTime) {
  const MachineConfig machine = config::load_hardware("a100-80gb", {"control.launch=0 s"});
  const job::Tiling tiling = job::parse_tiling("nq=1,nkv=96,kd=512,kv=2,m0=128,n0=16,k0=64");  // a KiB of a row
  const job::RunResult r = run(machine, workload::gemm(1, 28672, 4096), "gemm", false, tiling);
  const double matrix = 28672.0 * 4096 * 2;
  EXPECT_NEAR(2.0 * static_cast<double>(r.sum("dram", "read_words")) / matrix, 1, 0.001);
  EXPECT_NEAR(r.seconds() / (matrix / machine.dram.bytes_per_second), 1, 0.05);
}

// Rows of matrices as they lie in memory take the time of tiles that were packed: their pieces come from DRAM without
// their neighbours, and are under way as the others are.
TEST(ProductsOnAGpu, TakeAsLongHoweverTheirMatricesLie) {
  for (const char* name : {"a100", "a100-80gb"}) {
    SCOPED_TRACE(name);
    const MachineConfig machine = config::load_hardware(name);
    const workload::Workload n = workload::gemm(256, 1536, 768);
    const job::Tiling tiling = job::parse_tiling("nq=64,nkv=104,kd=64,kv=2,m0=64,n0=16,k0=16");
    const job::RunResult rows = run(machine, n, "gemm", false, tiling),
                         packed = run(machine, n, "gemm-panels", false, tiling);
    EXPECT_NEAR(static_cast<double>(rows.cycles) / static_cast<double>(packed.cycles), 1, 0.1);
    EXPECT_EQ(rows.sum("dram", "read_words"), packed.sum("dram", "read_words"));
  }
}

// Values against golden, and DRAM bytes: FP16 in, the type out.
TEST(Conversion, IsGoldenAndMovesTheBytesOfItsTypes) {
  for (std::uint32_t i = 0; i < 24; ++i) {
    Random r(3331 + i);
    MachineConfig machine = config::load_hardware("edge");
    machine.clusters = r.of({1, 2, 3});
    machine.cores = r.from(1, 3);
    const std::string type = std::vector<std::string>{"int8", "fp8_e4m3", "fp8_e5m2", "bf16", "fp16"}[i % 5];
    const std::uint32_t rows = r.from(1, 150), columns = 2 * r.from(1, 200);
    const workload::Workload n = workload::load(fmt::format("convert:{}x{},type={}", rows, columns, type));
    SCOPED_TRACE(n.name());
    const job::Tiling tiling = job::parse_tiling(
        fmt::format("nq={},nkv={}", std::min(rows, r.of({1, 7, 32})), std::min(columns, r.of({6, 500}))));
    const job::RunResult full = run(machine, n, "rows", true, tiling);
    EXPECT_TRUE(full.golden_checked && full.golden.passed) << full.golden.to_string();
    const std::uint64_t elements = std::uint64_t{rows} * columns;
    EXPECT_EQ(full.sum("dram", "read_words"), elements);
    EXPECT_EQ(2 * full.sum("dram", "write_words"), elements * hal::element_bytes(n.out()));
    expect_same_counts(full, run(machine, n, "rows", false, tiling));
  }
}

// Golden fails for numbers off by a step of the type.
TEST(Conversion, IsChecked) {
  for (const char* type : {"int8", "fp8_e4m3"}) {
    const workload::Workload n = workload::load(fmt::format("convert:4x32,type={}", type));
    const job::Tensors t = job::random_tensors(n, 7);
    std::vector<arith::Half> y = run(config::load_hardware("edge"), n, "rows", true).output;
    EXPECT_TRUE(job::check_operation(n, t, y).passed);
    const float step = 1.5F * std::max(job::scale_of_result(*n.rows(), t), std::abs(arith::float_from_half(y[5])) / 8);
    y[5] = arith::half_from_float(arith::float_from_half(y[5]) + step);
    EXPECT_FALSE(job::check_operation(n, t, y).passed);
  }
  for (const char* text : {"convert:4x32", "convert:4x32,type=int4", "convert:4x32,type", "convert:4x32,kind=int8",
                           "convert:4x32,type=int8,type=int8", "convert:4,type=int8"}) {
    EXPECT_THROW(workload::load(text), config::ConfigError) << text;
  }
}

}  // namespace
}  // namespace attnvp::runs
