// Critical path of runs: steps without gaps that cover the interval, and shares that add up.
#include "platform/trace/critical_path.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "explore/tuning/tuner.h"
#include "platform/machine/hardware.h"
#include "platform/run/job.h"
#include "platform/run/platform.h"
#include "platform/workload/workload.h"

namespace attnvp::trace {
namespace {

struct TracedRun {
  CommandTrace trace;
  SignallingDescriptors signallers;
  std::uint64_t cycles = 0;
};

TracedRun traced_run(const std::string& hardware, const std::string& network, const std::string& dataflow) {
  TracedRun run;
  const MachineConfig machine = config::load_hardware(hardware);
  const workload::Workload layer = workload::load(network);
  const job::Schedule schedule = explore::first_fit({machine, layer, job::parse_dataflow(dataflow), {}});
  job::Runner runner(machine, config::load_energy(machine.energy), false);
  runner.platform().context().command_trace = &run.trace;
  run.cycles = runner.run(layer, schedule, nullptr, {}).cycles;
  runner.platform().context().command_trace = nullptr;
  run.signallers = runner.platform().context().signallers;
  return run;
}

std::uint64_t sum(const std::vector<std::pair<std::string, std::uint64_t>>& shares) {
  std::uint64_t total = 0;
  for (const auto& share : shares) total += share.second;
  return total;
}

TEST(CriticalPath, StepsFollowEachOtherAndEndWithTheInterval) {
  for (const char* dataflow : {"mas", "flat", "layerwise", "flash2"}) {
    const TracedRun run = traced_run("edge", "H=4,N=128,E=32", dataflow);
    for (const auto& [from, to] : {std::pair{std::uint64_t{0}, run.cycles}, {run.cycles / 3, run.cycles / 2}}) {
      const CriticalPath path = critical_path(run.trace, run.signallers, from, to, run.cycles);
      ASSERT_FALSE(path.steps.empty()) << dataflow;
      EXPECT_EQ(path.steps.back().to, to) << dataflow;
      EXPECT_GE(path.steps.front().from, from) << dataflow;
      for (std::size_t i = 1; i < path.steps.size(); ++i) {
        EXPECT_EQ(path.steps[i].from, path.steps[i - 1].to) << dataflow << ", step " << i;
      }
      const std::uint64_t covered = to - path.steps.front().from;
      EXPECT_EQ(sum(path.by_engine), covered) << dataflow;
      EXPECT_EQ(sum(path.by_tensor), covered) << dataflow;
    }
  }
}

TEST(CriticalPath, BeginsAtTheBoot) {
  const TracedRun run = traced_run("edge", "H=4,N=128,E=32", "mas");
  const CriticalPath path = critical_path(run.trace, run.signallers, 0, run.cycles, run.cycles);
  EXPECT_LT(path.steps.front().from, run.cycles / 50);  // before it, the processor prepares the first command
}

TEST(CriticalPath, NamesTheBindingEngine) {
  const TracedRun compute = traced_run("edge", "H=2,N=256,E=64", "mas");
  EXPECT_EQ(critical_path(compute.trace, compute.signallers, 0, compute.cycles, compute.cycles).by_engine.front().first,
            "mac");
  const TracedRun memory = traced_run("edge", "H=2,N=256,E=64", "layerwise");
  EXPECT_EQ(critical_path(memory.trace, memory.signallers, 0, memory.cycles, memory.cycles).by_engine.front().first,
            "dma");
}

TEST(CriticalPath, EngineIsTheLastModuleWithoutItsChannel) {
  EXPECT_EQ(engine_of("attnvp.cluster0.core1.mac"), "mac");
  EXPECT_EQ(engine_of("attnvp.cluster0.dma.channel3"), "dma");
}

}  // namespace
}  // namespace attnvp::trace
