// The same job while models run ahead of the SystemC kernel and while they do not: random jobs on every kind of memory,
// network and control processor, with one to four control processors. All results are equal.
#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "explore/tuning/tuner.h"
#include "models/control/riscv_processor/program.h"
#include "tests/models/late.h"
#include "tests/platform/random_jobs.h"
#include "tests/platform/runs.h"

namespace attnvp::runs {
namespace {

constexpr std::uint32_t kGroups = 10, kOfAGroup = 30;
constexpr std::uint32_t kMostClusters = 4;

const std::vector<std::vector<std::string>> kKinds = {
    {},
    {"dram.policy=banked", "dram.part=lpddr4-3200"},
    {"dram.policy=cached"},
    {"interconnect.kind=crossbar"},
    {"interconnect.kind=mesh", "interconnect.multicast=true"},
    {"l1.kind=banked"},
    {"l2.kind=scratchpad", "l2.staging=true"},
    {"dma.in_order=false"},
    {"gating=power", "wake_cycles=5"},
};

MachineConfig random_machine_of_a_kind(Random& r, std::uint32_t number, const std::string& run_ahead) {
  std::vector<std::string> keys = kKinds[number % kKinds.size()];
  const std::uint32_t clusters = r.from(1, kMostClusters);
  const bool firmware_is_built = riscv::program_problem(RiscvConfig()).empty();
  if (r.one_in(4) && firmware_is_built) keys.emplace_back("control.cpu=riscv");
  const std::uint32_t cores = r.from(1, 3);
  for (const std::string& key :
       {fmt::format("clusters={}", clusters), fmt::format("cores={}", cores),
        fmt::format("l1.ports={}", r.from(2, 2 * cores + 1)), fmt::format("mac.rows={}", r.of({8, 16, 32})),
        fmt::format("vec.lanes={}", r.of({16, 64, 256})), fmt::format("dma.outstanding={}", r.of({1, 4, 16})),
        fmt::format("dram.latency={} ns", r.of({0, 20, 100})), fmt::format("control.access_cycles={}", r.from(1, 4)),
        std::string("l1.size=512 KiB"), std::string("dram.size=64 MiB"), "simulation.run_ahead=" + run_ahead}) {
    keys.push_back(key);
  }
  return config::load_hardware("edge", keys);
}

struct Outcome {
  std::string refusal;
  job::RunResult result;
};

Outcome run(std::uint32_t number, const std::string& run_ahead) {
  Random r(number * 2654435761U + 41);
  Outcome o;
  try {
    const MachineConfig machine = random_machine_of_a_kind(r, number, run_ahead);
    workload::Attention network = random_network(r);
    if (r.one_in(2)) random_rules(r, network);
    job::Schedule schedule = job::parse_dataflow(kUnderRules[number % kUnderRules.size()]);
    schedule = explore::first_fit({machine, network, schedule, {}});
    const bool full = number % 3 == 0;
    const job::Tensors tensors = full ? job::random_tensors(network, number) : job::Tensors{};
    job::Runner runner(machine, config::load_energy("fusemax-45nm"), full);
    job::RunOptions options;
    options.full_data = full;
    o.result = runner.run(network, schedule, full ? &tensors : nullptr, options);
  } catch (const std::runtime_error& e) {
    o.refusal = e.what();
  }
  return o;
}

void expect_equal(const job::RunResult& a, const job::RunResult& b) {
  expect_same_counts(a, b);
  EXPECT_EQ(a.total_energy_pj(), b.total_energy_pj());
  EXPECT_TRUE(a.output == b.output);
  EXPECT_EQ(a.statistics, b.statistics);
}

class RunAhead : public testing::TestWithParam<std::uint32_t> {};

TEST_P(RunAhead, ChangesNoResult) {
  int done = 0;
  for (std::uint32_t i = 0; i < kOfAGroup; ++i) {
    const std::uint32_t number = GetParam() * kOfAGroup + i;
    SCOPED_TRACE(fmt::format("case {}", number));
    const Outcome on = run(number, "on"), off = run(number, "off");
    ASSERT_EQ(on.refusal, off.refusal);
    if (!on.refusal.empty()) continue;
    ++done;
    expect_equal(on.result, off.result);
  }
  EXPECT_GE(done, static_cast<int>(kOfAGroup) / 2);
}

INSTANTIATE_TEST_SUITE_P(Jobs, RunAhead, testing::Range(0U, kGroups));

job::RunResult run_on(const std::string& hardware, std::vector<std::string> keys, const std::string& run_ahead) {
  keys.push_back("simulation.run_ahead=" + run_ahead);
  const workload::Attention network = workload::load("H=6,N=128,E=64").attention();
  const MachineConfig machine = config::load_hardware(hardware, keys);
  const job::Schedule schedule = explore::first_fit({machine, network, job::parse_dataflow("mas"), {}});
  job::Runner runner(machine, config::load_energy(machine.energy), false);
  job::RunOptions options;
  options.full_data = false;
  return runner.run(network, schedule, nullptr, options);
}

TEST(RunAheadOff, GivesTheSameOnShippedMachines) {
  for (const std::string hw : {"edge", "edge-soc", "edge-large", "cluster3"}) {
    SCOPED_TRACE(hw);
    expect_equal(run_on(hw, {}, "on"), run_on(hw, {}, "off"));
  }
}

// Modules that let their initiators wait through the kernel alone.
TEST(RunAheadOff, GivesTheSameBesideModulesThatWaitThroughTheKernel) {
  for (const std::string kinds : {"late", "waiting"}) {
    for (const std::string clusters : {"1", "3"}) {
      SCOPED_TRACE(kinds + clusters);
      const std::vector<std::string> keys = {"interconnect.kind=" + kinds, "l1.kind=" + kinds, "clusters=" + clusters};
      expect_equal(run_on("edge", keys, "on"), run_on("edge", keys, "off"));
    }
  }
}

}  // namespace
}  // namespace attnvp::runs
