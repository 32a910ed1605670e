// K and V that are staged in the L2: the same bytes out, of DRAM once, and nothing that could race.
#include <fmt/format.h>

#include <algorithm>

#include "platform/schedule/check/checker.h"
#include "platform/schedule/counter.h"
#include "tests/platform/control/riscv_runs.h"
#include "tests/support/tuned.h"

namespace attnvp::runs {
namespace {

const std::vector<std::string> kInL2 = {"l2.kind=scratchpad", "l2.size=4 MiB", "l2.staging=true"};

job::Schedule streamed(const std::string& dataflow, const std::string& more = "nq=16,nkv=40") {
  job::Schedule schedule = job::parse_dataflow(dataflow);
  schedule.tiling = job::parse_tiling("kv=stream," + more);
  return schedule;
}

std::string findings(const MachineConfig& machine, const workload::Workload& n, const job::Schedule& schedule) {
  std::string text;
  const auto report =
      schedule::check::check(job::make_job(machine, n, schedule), machine, {job::result_bytes(n, schedule)});
  for (const schedule::check::Finding& f : report.findings) text += to_text(f) + "\n";
  return text;
}

class Staged : public testing::TestWithParam<std::string> {};

// Three heads, on one cluster or one each on three: every round but the first one of each head reads K and V again.
TEST_P(Staged, KAndVLeaveDramOnce) {
  const workload::Attention n = workload::load("H=3,N=160,E=32").attention();
  const std::uint64_t k_and_v = 2 * 3 * 160 * 32 * 2;
  const job::Tensors tensors = job::random_tensors(n, 1);
  for (const char* hardware : {"edge", "cluster3"}) {
    const MachineConfig plain = config::load_hardware(hardware), machine = config::load_hardware(hardware, kInL2);
    const config::EnergyTable energy = config::load_energy(machine.energy);
    const job::RunResult without = runs::Runner(plain, energy, true).run(n, streamed(GetParam()), &tensors, {});
    const job::RunResult full = runs::Runner(machine, energy, true).run(n, without.schedule, &tensors, {});
    runs::Runner runner(machine, energy, false);
    const job::RunResult timing = runner.run(n, without.schedule, nullptr, {});
    expect_same_counts(timing, runner.run(n, without.schedule, nullptr, {}));
    EXPECT_TRUE(full.golden.passed) << full.golden.to_string();
    EXPECT_EQ(full.output, without.output);
    expect_same_counts(full, timing);
    EXPECT_EQ(findings(machine, n, full.schedule), "");
    const std::uint64_t again = 2 * full.sum("l2", "read_words");
    EXPECT_EQ(2 * full.sum("l2", "write_words"), k_and_v);
    EXPECT_GT(again, k_and_v);
    EXPECT_EQ(2 * full.sum("dram", "read_words"), 2 * without.sum("dram", "read_words") - again + k_and_v);
    EXPECT_EQ(full.sum("dram", "write_words"), without.sum("dram", "write_words"));
    const schedule::Counts counts = schedule::count(job::make_job(machine, n, full.schedule), machine);
    EXPECT_EQ(counts.l2.read, again);
    EXPECT_EQ(counts.l2.written, k_and_v);
    EXPECT_EQ(counts.dram.read, 2 * full.sum("dram", "read_words"));
    if (GetParam().find(':') == std::string::npos) {  // otherwise scores may cross DRAM in tiles
      EXPECT_EQ(counts.dram.read, least_dram_bytes(n, GetParam()).read);
    }
  }
}

// Masks, groups of heads, V of another width, bytes, new tokens that are appended: what is staged and where.
TEST_P(Staged, GoldenPassesUnderRules) {
  const std::pair<const char*, const char*> cases[] = {
      {"H=4,HKV=2,N=150,E=32,causal=1,window=60,sinks=8", "nq=16,nkv=40"},
      {"H=4,HKV=2,N=150,E=32,causal=1", "nq=8,nkv=24,hh=2"},
      {"B=2,H=3,NQ=70,NKV=130,E=32,EV=48", "nq=16,nkv=40,hh=3"},
      {"B=2,H=2,NQ=70,NKV=130,E=32", "nq=8,nkv=40,bb=2"},
      {"H=4,N=100,E=32,type=int8", "nq=8,nkv=24"},
      {"H=2,N=40,E=32,history=80,causal=1", "nq=8,nkv=40"}};
  for (const auto& [layer, tiling] : cases) {
    const workload::Attention n = workload::load(layer).attention();
    const job::Tensors tensors = job::random_tensors(n, 1);
    const MachineConfig machine = config::load_hardware("cluster3", kInL2);
    runs::Runner runner(machine, config::load_energy(machine.energy), true);
    const job::RunResult r = runner.run(n, streamed(GetParam(), tiling), &tensors, {});
    EXPECT_TRUE(r.golden.passed) << layer << " " << tiling << r.golden.to_string();
    EXPECT_GT(r.sum("l2", "write_words"), 0U) << layer;
    EXPECT_EQ(findings(machine, n, r.schedule), "") << layer << " " << tiling;
  }
}

// Loads that run ahead have a place among the others that depends on how full a queue is: with a row buffer there are
// few. softpipe and layerwise have some, and the same ones in their own order.
TEST_P(Staged, ARiscvGivesTheSameCommands) {
  ATTNVP_NEEDS_RISCV();
  std::vector<std::string> settings = kInL2;
  auto native = run_job(machine_with("cluster3", settings), "H=2,N=160,E=32", GetParam(), true,
                        streamed(GetParam(), "nq=16,nkv=40,rb=1").tiling);
  settings.emplace_back("control.cpu=riscv");
  auto riscv =
      run_job(machine_with("cluster3", settings), "H=2,N=160,E=32", GetParam(), true, native.result.schedule.tiling);
  EXPECT_TRUE(riscv.result.golden.passed);
  EXPECT_GT(native.result.sum("l2", "read_words"), 0U);
  for (auto* run : {&native, &riscv}) {
    if (GetParam() != "softpipe" && GetParam().rfind("layerwise", 0) != 0) break;
    for (auto& [queue, descriptors] : run->descriptors) std::sort(descriptors.begin(), descriptors.end());
  }
  EXPECT_TRUE(native.descriptors == riscv.descriptors);
}

INSTANTIATE_TEST_SUITE_P(Dataflows, Staged,
                         testing::Values("layerwise", "layerwise:spills=fusemax", "softpipe", "flat",
                                         "flat:prefetch=off", "flat:overlap=on", "tileflow", "mas"),
                         [](const auto& of) { return test_name(of.param); });

TEST(Staging, IsRefusedWhereAClustersPartIsTooSmall) {
  const workload::Attention n = workload::load("H=1,N=160,E=32").attention();
  const auto refusal = [&](const char* size) -> std::string {
    const MachineConfig machine = config::load_hardware("cluster3", {"l2.kind=scratchpad", "l2.staging=true", size});
    try {
      runs::Runner(machine, config::load_energy(machine.energy), false)
          .run(n, streamed("mas", "bb=1,hh=1,nq=16,nkv=40,m0=16,n0=16,k0=16,rb=1"), nullptr, {});
      return "taken";
    } catch (const std::runtime_error& e) {
      return e.what();
    }
  };
  // K and V, 160 x 32 x 2 bytes each, for three clusters.
  EXPECT_EQ(refusal("l2.size=61440 B"), "taken");
  EXPECT_EQ(
      refusal("l2.size=61439 B"),
      "H=1,N=160,E=32 on cluster3 with mas: cluster 0's firmware: K and V that are staged need 20480 bytes of each "
      "cluster's part of the L2, where l2.size leaves 20416");
}

// What stays in L1, or is read once, is loaded as ever.
TEST(Staging, IsOfWhatIsReadAgain) {
  const workload::Attention n = workload::load("H=2,N=96,E=32").attention();
  for (const char* tiling : {"nq=16,nkv=32,kv=2", "nq=48,nkv=32,kv=stream"}) {
    job::Schedule schedule = job::parse_dataflow("mas");
    schedule.tiling = job::parse_tiling(tiling);
    const MachineConfig plain = config::load_hardware("edge"), machine = config::load_hardware("edge", kInL2);
    const config::EnergyTable energy = config::load_energy("edge-16nm");
    const job::RunResult without = runs::Runner(plain, energy, false).run(n, schedule, nullptr, {});
    const job::RunResult with = runs::Runner(machine, energy, false).run(n, without.schedule, nullptr, {});
    EXPECT_EQ(with.cycles, without.cycles);
    EXPECT_EQ(with.sum("l2", "write_words"), 0U);
    EXPECT_GT(with.energy_pj("leakage"), without.energy_pj("leakage")) << "it leaks all the same";
  }
}

}  // namespace
}  // namespace attnvp::runs
