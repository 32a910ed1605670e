// Periods that are advanced as a whole give the cycles, counts and energies of a run that simulates every command.
// Random jobs of all kinds, on one cluster.
#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "explore/tuning/tuner.h"
#include "tests/platform/random_jobs.h"
#include "tests/platform/runs.h"

namespace attnvp::runs {
namespace {

constexpr std::uint32_t kGroups = 8, kOfAGroup = 40;

const std::vector<std::vector<std::string>> kKinds = {
    {},
    {},
    {"dram.bandwidth=7.3 GB/s"},
    {"dma.in_order=false"},
    {"gating=power", "wake_cycles=5"},
    {"dram.policy=fixed", "dram.duplex=true"},
    {"l2.kind=scratchpad", "l2.staging=true"},
    {"l1.kind=banked"},
};

MachineConfig machine_of_a_kind(Random& r, std::uint32_t number, const std::string& steady_state) {
  std::vector<std::string> keys = kKinds[number % kKinds.size()];
  const std::uint32_t cores = r.from(1, 3);
  for (const std::string& key :
       {std::string("clusters=1"), fmt::format("cores={}", cores), fmt::format("l1.ports={}", r.from(2, 2 * cores + 1)),
        fmt::format("mac.rows={}", r.of({8, 16, 32})), fmt::format("vec.lanes={}", r.of({16, 64, 256})),
        fmt::format("dma.outstanding={}", r.of({1, 4, 16})), fmt::format("dma.channels={}", r.of({2, 4})),
        fmt::format("dram.latency={} ns", r.of({0, 20, 100})), fmt::format("control.access_cycles={}", r.from(1, 4)),
        std::string("l1.size=256 KiB"), std::string("dram.size=256 MiB"), "simulation.steady_state=" + steady_state}) {
    keys.push_back(key);
  }
  return config::load_hardware("edge", keys);
}

// Long enough to repeat, with parts that do not.
workload::Workload workload_of(Random& r, std::uint32_t number) {
  const auto ragged = [&r](std::uint32_t low, std::uint32_t high, std::uint32_t step) {
    return r.from(low, high) * step + (r.one_in(3) ? r.from(1, step - 1) : 0);
  };
  switch (number % 5) {
    case 0:
      return workload::load(fmt::format("gemm:{}x{}x{}", ragged(2, 12, 64), ragged(2, 12, 64), ragged(2, 8, 64)));
    case 1:
      return workload::load(fmt::format("softmax:{}x{}", ragged(4, 40, 32), ragged(2, 8, 64)));
    default: {
      workload::Attention n = random_network(r);
      if (r.one_in(2)) n.heads = n.kv_heads = r.from(3, 8);
      if (r.one_in(2)) n.seq_q = n.seq_kv = ragged(4, 16, 32);
      if (r.one_in(3)) random_rules(r, n);
      return n;
    }
  }
}

struct Outcome {
  std::string refusal;
  job::RunResult result;
  std::uint64_t skipped = 0;
};

Outcome run(std::uint32_t number, const std::string& steady_state) {
  Random r(number * 2654435761U + 97);
  Outcome o;
  try {
    const MachineConfig machine = machine_of_a_kind(r, number, steady_state);
    const workload::Workload workload = workload_of(r, number);
    const std::string dataflow = workload.is_attention()      ? kUnderRules[number % kUnderRules.size()]
                                 : workload.rows() != nullptr ? "softmax-rows"
                                                              : "gemm";
    const job::Schedule schedule = explore::first_fit({machine, workload, job::parse_dataflow(dataflow), {}});
    job::Runner runner(machine, config::load_energy("fusemax-45nm"), false);
    job::RunOptions options;
    options.full_data = false;
    for (int job = 0; job < 2; ++job) {  // the second one begins at another time
      o.result = runner.run(workload, schedule, nullptr, options);
      o.skipped += o.result.skipped_cycles;
    }
  } catch (const std::runtime_error& e) {
    o.refusal = e.what();
  }
  return o;
}

class SteadyStateJobs : public testing::TestWithParam<std::uint32_t> {};

TEST_P(SteadyStateJobs, ChangesNoResult) {
  int done = 0, skipped = 0;
  for (std::uint32_t i = 0; i < kOfAGroup; ++i) {
    const std::uint32_t number = GetParam() * kOfAGroup + i;
    SCOPED_TRACE(fmt::format("case {}", number));
    const Outcome on = run(number, "on"), off = run(number, "off");
    ASSERT_EQ(on.refusal, off.refusal);
    EXPECT_EQ(off.skipped, 0);
    if (!on.refusal.empty()) continue;
    ++done;
    if (on.skipped > 0) ++skipped;
    expect_same_counts(on.result, off.result);
    EXPECT_EQ(on.result.total_energy_pj(), off.result.total_energy_pj());
    EXPECT_EQ(on.result.statistics, off.result.statistics);
    ASSERT_EQ(on.result.unit_times.size(), off.result.unit_times.size());
    for (std::size_t u = 0; u < on.result.unit_times.size(); ++u) {
      EXPECT_EQ(on.result.unit_times[u].cycles, off.result.unit_times[u].cycles) << on.result.unit_times[u].unit;
    }
  }
  EXPECT_GE(done, static_cast<int>(kOfAGroup) / 2);
  EXPECT_GE(skipped, static_cast<int>(kOfAGroup) / 5);
}

INSTANTIATE_TEST_SUITE_P(Jobs, SteadyStateJobs, testing::Range(0U, kGroups));

// Period of a product by hand: two cores, each with one command for every 256 of the depth. All but the first and the
// last tiles repeat, so that the events do not grow with the rows.
TEST(SteadyState, TimeGrowsWithWhatDiffers) {
  const MachineConfig machine = config::load_hardware("edge", {});
  const auto events = [&machine](std::uint32_t rows) {
    const workload::Workload product = workload::load(fmt::format("gemm:{}x1600x2048", rows));
    job::Schedule schedule = job::parse_dataflow("gemm");
    schedule.tiling = job::parse_tiling("nq=256,nkv=800,m0=32,n0=32,k0=64,kv=2,kd=256");
    job::Runner runner(machine, config::load_energy(machine.energy), false);
    job::RunOptions options;
    options.full_data = false;
    return runner.run(product, schedule, nullptr, options).events;
  };
  EXPECT_LT(events(64 * 512), 2 * events(16 * 512));
}

// A limit of cycles within a repetition ends the run with the same sentence at the same cycle.
TEST(SteadyState, KeepsTheLimitOfCycles) {
  const workload::Workload layer = workload::load("H=4,N=1024,E=64");
  const auto refusal = [&layer](const std::string& steady_state, std::uint64_t most) -> std::string {
    const MachineConfig machine = config::load_hardware("edge", {"simulation.steady_state=" + steady_state});
    const job::Schedule schedule = explore::first_fit({machine, layer, job::parse_dataflow("mas"), {}});
    job::Runner runner(machine, config::load_energy(machine.energy), false);
    job::RunOptions options;
    options.full_data = false;
    options.most_cycles = most;
    try {
      return fmt::format("{} cycles", runner.run(layer, schedule, nullptr, options).cycles);
    } catch (const job::RunError& e) {
      return e.what();
    }
  };
  const std::uint64_t all = std::stoull(refusal("off", 0));
  for (int percent = 5; percent <= 100; percent += 5) {
    const std::uint64_t most = all * static_cast<std::uint64_t>(percent) / 100;
    EXPECT_EQ(refusal("on", most), refusal("off", most)) << percent;
  }
}

}  // namespace
}  // namespace attnvp::runs
