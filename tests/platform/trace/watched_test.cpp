// A run that is written down, as a waveform and a timeline, is the same run: on machines and layers at random, with
// processors of either kind, L1 with banks and without, a cache before DRAM and none, and networks, every cycle and
// every count is that of the run that nobody watches.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "platform/trace/session.h"
#include "tests/platform/control/riscv_runs.h"
#include "tests/platform/random_jobs.h"
#include "tests/support/tuned.h"

namespace attnvp {
namespace {

#ifdef ATTNVP_LONG
constexpr int kFirst = 2, kShards = 18;
#else
constexpr int kFirst = 0, kShards = 2;
#endif

struct Case {
  MachineConfig machine;
  workload::Attention network;
  std::string dataflow;
};

Case random_case(std::uint32_t number) {
  runs::Random r(0x3A7C + number);
  Case c;
  c.machine = runs::random_machine(r);
  c.machine.l1.size_bytes = std::max<std::uint64_t>(c.machine.l1.size_bytes, 128 << 10);
  c.machine.l1.kind = r.one_in(4) ? "banked" : c.machine.l1.kind;
  c.machine.dram.policy = r.one_in(4) ? "cached" : c.machine.dram.policy;
  if (r.one_in(3)) c.machine.interconnect.kind = r.one_in(2) ? "crossbar" : "mesh";
  if (r.one_in(3) && runs::has_riscv_firmware()) c.machine.control.cpu = "riscv";
  c.network = runs::random_network(r);
  runs::random_rules(r, c.network);
  c.dataflow = runs::kUnderRules[number % runs::kUnderRules.size()];  // each of them in few draws
  return c;
}

class Watched : public testing::TestWithParam<int> {};

TEST_P(Watched, IsTheSameRun) {
  constexpr int kCases = 20;
  int same = 0;
  for (int number = GetParam() * kCases; number < (GetParam() + 1) * kCases; ++number) {
    const Case c = random_case(static_cast<std::uint32_t>(number));
    SCOPED_TRACE(fmt::format("case {}: {}\n{}", number, c.dataflow, config::to_yaml(c.machine)));
    const config::EnergyTable energy = config::load_energy(c.machine.energy);
    job::RunResult alone;
    try {
      runs::Runner runner(c.machine, energy, false);
      alone = runner.run(c.network, job::parse_dataflow(c.dataflow), nullptr, {});
    } catch (const job::RunError&) {  // it does not fit
      continue;
    }
    trace::TraceRequest request;
    request.waveform = request.timeline = true;
    trace::Session session(request);
    job::RunOptions options;
    options.trace = &session;
    runs::Runner runner(c.machine, energy, false);
    runs::expect_same_counts(alone, runner.run(c.network, alone.schedule, nullptr, options));
    if (HasFailure()) return;
    ++same;
  }
  EXPECT_GE(same, 1) << "no case fits its machine";
}

INSTANTIATE_TEST_SUITE_P(Machines, Watched, testing::Range(kFirst, kFirst + kShards));

}  // namespace
}  // namespace attnvp
