// Learned sinks of query heads: values, counts, and what is refused.
#include <fmt/format.h>

#include "firmware/runtime/dataflow.h"
#include "platform/schedule/check/checker.h"
#include "tests/platform/control/riscv_runs.h"
#include "tests/platform/random_jobs.h"
#include "tests/platform/test_files.h"
#include "tests/support/tuned.h"

namespace attnvp::runs {
namespace {

using testing::TemporaryFolder;

job::RunResult run(const workload::Workload& n, const std::string& dataflow, const std::string& tiling, bool full,
                   const char* hardware = "edge", std::uint32_t seed = 11) {
  const MachineConfig machine = config::load_hardware(hardware);
  runs::Runner runner(machine, config::load_energy(machine.energy), full);
  job::Schedule schedule = job::parse_dataflow(dataflow);
  if (!tiling.empty()) schedule.tiling = job::parse_tiling(tiling);
  const job::Tensors tensors = full ? job::random_tensors(n, seed) : job::Tensors{};
  return runner.run(n, schedule, full ? &tensors : nullptr, {});
}

// Golden values that see the sinks, the same counts without data, the traffic of the layer without sinks, and no
// findings of the checker.
void expect_sunk(const workload::Workload& n, const std::string& dataflow, const std::string& tiling,
                 const char* hardware = "edge") {
  SCOPED_TRACE(n.identity() + " " + dataflow);
  const job::RunResult r = run(n, dataflow, tiling, true, hardware);
  EXPECT_TRUE(r.golden.passed) << r.golden.to_string();
  expect_same_counts(r, run(n, r.schedule.text, tiling, false, hardware));
  workload::Workload plain = n;
  plain.attention().sink = false;
  const job::RunResult without = run(plain, dataflow, tiling, false, hardware);
  for (const char* counter : {"read_words", "write_words"})
    EXPECT_EQ(r.sum("dram", counter), without.sum("dram", counter));
  EXPECT_EQ(r.sum("mac", "macs"), without.sum("mac", "macs"));
  const MachineConfig machine = config::load_hardware(hardware);
  const schedule::check::Report report =
      schedule::check::check(job::make_job(machine, n, r.schedule), machine, {job::result_bytes(n, r.schedule)});
  EXPECT_TRUE(report.findings.empty()) << to_text(report.findings.front());
}

class Sinks : public ::testing::TestWithParam<const char*> {};

TEST_P(Sinks, AreTermsOfTheSums) {
  const std::string tiling = std::string(GetParam()) == "mas:overwrite=on" ? "" : "nkv=64";
  for (const char* shape :
       {"B=2,H=4,NQ=96,NKV=160,E=32", "H=6,HKV=2,NQ=40,NKV=70,E=24,causal=1,scale=1/sqrt(E)",
        "H=2,N=96,E=32,window=40,sinks=4,causal=1,type=bf16,softcap=5", "B=2,H=3,HKV=1,N=90,E=16,valid=90+71"}) {
    expect_sunk(workload::load(std::string(shape) + ",sink=1"), GetParam(), tiling);
  }
}
TEST_P(Sinks, AreTermsInRandomLayers) {
  Random r(7);
  for (int i = 0; i < 5; ++i) {
    workload::Attention n = random_network(r);
    random_rules(r, n);
    n.mask.queries = n.seq_q;
    n.sink = true;
    const job::RunResult result = run(n, GetParam(), "", true);
    EXPECT_TRUE(result.golden.passed) << n.identity() << " " << result.golden.to_string();
  }
}

INSTANTIATE_TEST_SUITE_P(Dataflows, Sinks,
                         ::testing::Values("layerwise", "softpipe", "flat", "flat:prefetch=off", "flat:overlap=on",
                                           "tileflow", "mas", "mas:overwrite=on", "weave", "cascade",
                                           "cascade:binding=serial", "lean", "flash-decoding", "flash2",
                                           "flash2:grid=blocks"),
                         [](const auto& of) { return test_name(of.param); });

TEST(LearnedSinks, AreTermsOfTheSumsOfPesThatHoldScores) {
  for (const char* dataflow : {"fusemax", "fusemax:binding=serial", "fusemax:sums=fusemax"}) {
    expect_sunk(workload::load("H=2,N=256,E=64,sink=1"), dataflow, "", "fusemax");
    expect_sunk(workload::load("H=4,HKV=1,N=130,E=64,causal=1,type=fp8_e4m3,sink=1"), dataflow, "", "fusemax");
  }
}

// One part of a split context counts the sink: the division behind the merge.
TEST(LearnedSinks, CountOnceInSplitContexts) {
  TemporaryFolder folder;
  folder.write("requests.csv", "new_tokens,cached_tokens\n1,600\n5,40\n70,0\n");
  const workload::Workload requests =
      workload::with_requests(workload::load("H=8,HKV=2,N=8,E=32,causal=1,sink=1"), "requests.csv");
  for (const char* dataflow : {"lean", "flash-decoding", "flash2"}) {
    expect_sunk(workload::load("B=2,H=8,HKV=1,NQ=1,NKV=1500,E=64,history=1499,sink=1"), dataflow, "nkv=100");
    expect_sunk(workload::load("L=100+37+960,H=4,HKV=2,NQ=1,E=32,type=int8,sink=1"), dataflow, "nkv=64");
    expect_sunk(requests, dataflow, "nkv=64");
  }
  expect_sunk(workload::load("B=1,H=8,HKV=1,NQ=1,NKV=3000,E=64,history=2999,sink=1"), "flash-decoding:grid=blocks",
              "nkv=64", "a100");
}

// The check fails without the sinks, and with those of other heads.
TEST(LearnedSinks, AreSeenByTheCheck) {
  const workload::Attention n = workload::load("H=4,N=96,E=32,sink=1").attention();
  const job::Tensors tensors = job::random_tensors(n, 11);
  for (const char* dataflow : {"mas", "cascade"}) {
    const job::RunResult r = run(n, dataflow, "", true);
    const job::OnePass softmax{std::string(dataflow) == "mas" ? 0 : r.schedule.tiling["nkv"]};
    job::AttentionShape shape = job::shape_of(n);
    const auto passes = [&] {
      return job::check_attention(shape, tensors.q.data(), tensors.k.data(), tensors.v.data(), r.output.data(), softmax)
          .passed;
    };
    EXPECT_TRUE(passes());
    std::swap(shape.sinks[1], shape.sinks[2]);
    EXPECT_FALSE(passes());
    shape.sinks.clear();
    EXPECT_FALSE(passes());
  }
}

// One more lane term for each row, and a step of the division in one pass.
TEST(LearnedSinks, TakeLanes) {
  const workload::Workload n = workload::load("H=4,N=96,E=32,sink=1"), plain = workload::load("H=4,N=96,E=32");
  const std::uint64_t rows = 4 * 96;
  EXPECT_EQ(run(n, "mas", "", false).sum("vec", "elements"),
            run(plain, "mas", "", false).sum("vec", "elements") + rows);
  const job::RunResult sunk = run(n, "cascade", "", false), without = run(plain, "cascade", "", false);
  EXPECT_EQ(sunk.sum("vec", "exp_ops"), without.sum("vec", "exp_ops") + rows);
  EXPECT_EQ(sunk.sum("vec", "div_ops"), without.sum("vec", "div_ops") + rows);
}

TEST(LearnedSinks, AreTheSameCommandsOfARiscv) {
  ATTNVP_NEEDS_RISCV();
  for (const char* dataflow : {"layerwise", "flat", "mas", "cascade", "lean"}) {
    const std::string shape = "H=4,HKV=2,NQ=40,NKV=70,E=32,causal=1,sink=1";
    const RiscvRun native = run_job(machine_with("edge", {}), shape, dataflow),
                   riscv = run_job(machine_with("edge", {"control.cpu=riscv"}), shape, dataflow, true,
                                   native.result.schedule.tiling);
    EXPECT_TRUE(riscv.result.golden.passed) << dataflow;
    EXPECT_EQ(native.descriptors, riscv.descriptors) << dataflow;
  }
}

TEST(LearnedSinks, AreRefusedInASentence) {
  const auto is = [](const std::string& network, const std::string& sentence) {
    try {
      workload::load(network);
      ADD_FAILURE() << network;
    } catch (const config::ConfigError& e) {
      EXPECT_NE(std::string(e.what()).find(sentence), std::string::npos) << e.what();
    }
  };
  is("H=2,N=8,E=16,alibi=1,sink=1", "key 'sink': found 1; with 'alibi' allowed is 0");
  is("H=2,N=8,E=16,softmax=none,sink=1", "key 'sink': found 1; with 'softmax' allowed is 0");
  is("H=32,HKV=1,N=8,E=16,sink=1", "key 'sink': found 1; allowed are at most 16 heads of Q for each of K and V");
  is("H=2,N=8,E=16,sink=2", "key 'sink'");
  const auto why = [](const std::string& network, const std::string& dataflow,
                      const std::vector<std::string>& overrides) -> std::string {
    try {
      run_job(machine_with("edge", overrides), network, dataflow);
    } catch (const std::exception& e) {
      return e.what();
    }
    return "taken";
  };
  EXPECT_NE(why("H=2,N=8,E=16,type=int8,sink=1", "flat", {}).find("sinks with P of one byte need one pass"),
            std::string::npos);
}

}  // namespace
}  // namespace attnvp::runs
