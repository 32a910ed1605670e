// The same job while models run ahead of the SystemC kernel and while they do not: random jobs on every kind of memory,
// network and control processor. With one control processor all results are equal. Several that become ready at the
// same time may run in another order, which shifts a job as a random delay of a cycle does.
#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "explore/tuning/tuner.h"
#include "tests/platform/random_jobs.h"
#include "tests/platform/runs.h"

namespace attnvp::runs {
namespace {

constexpr std::uint32_t kGroups = 10, kOfAGroup = 30;
constexpr double kOtherOrder = 0.1;  // of the cycles: what another order of ready control processors may change

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

MachineConfig random_machine_of_a_kind(Random& r, std::uint32_t number, std::uint32_t clusters,
                                       const std::string& run_ahead) {
  std::vector<std::string> keys = kKinds[number % kKinds.size()];
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
  job::Result result;
};

Outcome run(std::uint32_t number, std::uint32_t clusters, const std::string& run_ahead) {
  Random r(number * 2654435761U + 41);
  Outcome o;
  try {
    const MachineConfig machine = random_machine_of_a_kind(r, number, clusters, run_ahead);
    config::Network network = random_network(r);
    if (r.one_in(2)) random_rules(r, network);
    job::Schedule schedule = job::parse_dataflow(kUnderRules[number % kUnderRules.size()]);
    schedule = explore::first_fit(machine, network, schedule);
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

class RunAhead : public testing::TestWithParam<std::uint32_t> {};

TEST_P(RunAhead, ChangesNoResult) {
  int done = 0;
  for (std::uint32_t i = 0; i < kOfAGroup; ++i) {
    const std::uint32_t number = GetParam() * kOfAGroup + i;
    SCOPED_TRACE(fmt::format("case {}", number));
    const Outcome on = run(number, 1, "on"), off = run(number, 1, "off");
    ASSERT_EQ(on.refusal, off.refusal);
    if (!on.refusal.empty()) continue;
    ++done;
    EXPECT_EQ(on.result.cycles, off.result.cycles);
    EXPECT_EQ(on.result.total_energy_pj(), off.result.total_energy_pj());
    EXPECT_TRUE(on.result.output == off.result.output);
    ASSERT_EQ(on.result.counters.size(), off.result.counters.size());
    for (std::size_t c = 0; c < on.result.counters.size(); ++c) {
      EXPECT_EQ(on.result.counters[c].value, off.result.counters[c].value) << on.result.counters[c].name;
    }
  }
  EXPECT_GE(done, static_cast<int>(kOfAGroup) / 2);
}

INSTANTIATE_TEST_SUITE_P(Jobs, RunAhead, testing::Range(0U, kGroups));

TEST(RunAheadOf, SeveralControlProcessorsMayChangeTheirOrder) {
  int done = 0, equal = 0;
  for (std::uint32_t number = 0; number < 60; ++number) {
    SCOPED_TRACE(fmt::format("case {}", number));
    const Outcome on = run(number, 2 + number % 2, "on"), off = run(number, 2 + number % 2, "off");
    ASSERT_EQ(on.refusal, off.refusal);
    if (!on.refusal.empty()) continue;
    ++done;
    const auto a = static_cast<double>(on.result.cycles), b = static_cast<double>(off.result.cycles);
    EXPECT_NEAR(b / a, 1, kOtherOrder);
    EXPECT_TRUE(on.result.output == off.result.output);
    equal += on.result.cycles == off.result.cycles ? 1 : 0;
  }
  EXPECT_GE(done, 30);
  EXPECT_GE(equal, done * 3 / 4);
}

TEST(RunAheadOf, ControlProcessorsOfEveryKind) {
  for (const std::string hw : {"edge", "edge-soc", "cluster3"}) {
    SCOPED_TRACE(hw);
    const config::Network network = config::load_network("H=6,N=128,E=64");
    std::uint64_t cycles = 0;
    for (const std::string run_ahead : {"on", "off"}) {
      const MachineConfig machine = config::load_hardware(hw, {"simulation.run_ahead=" + run_ahead});
      const job::Schedule schedule = explore::first_fit(machine, network, job::parse_dataflow("mas"));
      job::Runner runner(machine, config::load_energy(machine.energy), false);
      job::RunOptions options;
      options.full_data = false;
      const job::Result r = runner.run(network, schedule, nullptr, options);
      if (cycles != 0) {
        EXPECT_EQ(r.cycles, cycles);
      }
      cycles = r.cycles;
    }
  }
}

}  // namespace
}  // namespace attnvp::runs
