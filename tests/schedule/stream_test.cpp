// Readers of the command stream against the simulation of the same schedule: counts are equal, the bound is one, what
// does not fit is known beforehand. Random machines, layers, tilings, every dataflow there is.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "models/interconnect/config.h"
#include "platform/machine/energy.h"
#include "platform/machine/hardware.h"
#include "platform/run/job.h"
#include "platform/run/results/accounting.h"
#include "platform/schedule/check/checker.h"
#include "platform/schedule/counter.h"
#include "platform/schedule/demand.h"
#include "platform/schedule/programs.h"
#include "tests/platform/random_jobs.h"
#include "tests/support/all_schedules.h"
#include "tests/support/tuned.h"

namespace attnvp {
namespace {

using runs::all_schedules;
using runs::Random;
using runs::random_machine;
using runs::random_network;

#ifdef ATTNVP_LONG
constexpr std::uint32_t kFirst = 3, kShards = 57;
#else
constexpr std::uint32_t kFirst = 0, kShards = 3;
#endif
constexpr std::uint32_t kCasesPerShard = 20;
const auto kRange = testing::Range(kFirst, kFirst + kShards);

void expect_same(const schedule::Counts& c, const job::RunResult& r) {
  const auto same = [&](const char* module, const char* counter, std::uint64_t count) {
    EXPECT_EQ(r.sum(module, counter), count) << module << " " << counter;
  };
  const auto traffic = [&](const char* module, const schedule::Traffic& t) {
    same(module, "read_words", t.read / 2);
    same(module, "write_words", t.written / 2);
  };
  traffic("dram", c.dram);
  if (r.has("l2", "read_words")) traffic("l2", c.l2);
  traffic("l1", c.l1);
  traffic("l0", c.l0);
  EXPECT_EQ(r.max("l1", "peak_bytes"), c.l1_peak_bytes);
  same("mac", "macs", c.mac.macs);
  same("mac", "slots", c.mac.slots);
  same("mac", "max_ops", c.mac.max_ops);
  same("mac", "add_ops", c.mac.add_ops);
  same("mac", "exp_ops", c.mac.exp_ops);
  same("vec", "elements", c.vec.elements);
  same("vec", "lane_ops", c.vec.lane_ops);
  same("vec", "max_ops", c.vec.rows.max);
  same("vec", "add_ops", c.vec.rows.add);
  same("vec", "mul_ops", c.vec.rows.mul);
  same("vec", "exp_ops", c.vec.rows.exp);
  same("vec", "div_ops", c.vec.rows.div);
  EXPECT_EQ(c.refused, 0U);
}

// Every cycle of every unit has one reason.
void expect_accounted(const job::RunResult& r) {
  EXPECT_FALSE(r.unit_times.empty());
  for (const job::UnitTime& unit : r.unit_times) {
    std::uint64_t sum = 0;
    for (const auto& [reason, cycles] : unit.cycles) sum += cycles;
    EXPECT_EQ(sum, r.cycles) << unit.unit;
  }
}

// The same commands on the machine with the settings of each advice: no faster than it says.
void expect_at_most(const job::RunResult& r, const MachineConfig& machine, const workload::Attention& network) {
  for (const job::Advice& advice : job::advice_for(r, machine)) {
    MachineConfig advised = machine;
    for (const job::Advice::AdvisedSetting& s : advice.settings) {
      config::apply_setting(advised, {s.key, s.value, {"advised"}});
    }
    config::finish_machine(advised, {"advised"});
    try {
      job::Runner runner(advised, config::load_energy("fusemax-45nm"), false);
      const job::RunResult faster = runner.run(network, r.schedule, nullptr, {});
      EXPECT_GE(static_cast<double>(faster.cycles) * advice.at_most * (1 + 1e-9), static_cast<double>(r.cycles))
          << advice.words << ", then " << advice.then << ": " << advice.reason;
    } catch (const std::runtime_error&) {  // that machine cannot
    }
  }
}

// A few clusters on a network that takes time, with multicast.
void add_multicast(Random& r, MachineConfig& m) {
  m.clusters = r.from(2, 4);
  m.interconnect.kind = r.one_in(2) ? "crossbar" : "mesh";
  auto& network = m.own<NetworkConfig>();
  network.multicast = true;
  network.link_bytes = r.of({64, 16, 8});
  network.hop_cycles = r.from(1, 5);
  network.dram_ports = r.from(1, 2);
}

// DRAM may be read less than is counted then, by what was saved.
void take_saved(schedule::Counts& c, const job::RunResult& r) {
  const std::uint64_t saved = r.sum("bus", "multicast_bytes");
  EXPECT_LE(saved, c.dram.read);
  c.dram.read -= saved;
}

// An L2 for K and V, which are streamed where a dataflow can.
void add_staging(Random& r, MachineConfig& m, job::Schedule& schedule) {
  m.l2.kind = "scratchpad";
  m.l2.staging = true;
  m.l2.size_bytes = 1 << 20;
  m.l2.bytes_per_second = 1e9 * r.of({60, 500, 8});
  m.l2.latency_seconds = 1e-9 * r.of({10, 0, 200});
  schedule.tiling.set("kv", hal::kWord);
  schedule.tiling.set("nq", r.of({4, 8, 16}));
}

// One pass over K and V, or tiles of them for workers.
bool streams_nothing(const job::Schedule& schedule) {
  const firmware::Dataflow& dataflow = *schedule::find_dataflow(schedule.dataflow);
  return dataflow.is(firmware::kOnePass) || dataflow.is(firmware::kRagged);
}

enum class With : std::uint8_t { kNothing, kMulticast, kStaging, kBoth };

void agree(std::uint32_t shard, With with) {
  const bool multicast = with == With::kMulticast || with == With::kBoth;
  const bool staging = with == With::kStaging || with == With::kBoth;
  int compared = 0;
  std::uint64_t joined = 0, staged = 0;
  for (std::uint32_t i = 0; i < kCasesPerShard; ++i) {
    Random r((shard * kCasesPerShard + i) * 2654435761U + 99 - static_cast<std::uint32_t>(with));
    MachineConfig machine = random_machine(r);
    if (multicast) add_multicast(r, machine);
    workload::Attention network = random_network(r);
    if (i % 2 == 1) runs::random_rules(r, network);
    std::vector<job::Schedule> schedules = all_schedules();
    if (staging) {  // by those that have it
      schedules.erase(std::remove_if(schedules.begin(), schedules.end(), streams_nothing), schedules.end());
    }
    job::Schedule open = schedules[(shard * kCasesPerShard + i) % schedules.size()];  // each of them in few draws
    if (staging) add_staging(r, machine, open);
    config::check_machine(machine, {"random"});
    SCOPED_TRACE(fmt::format("case {}: {} on B={},H={},NQ={},NKV={},E={}{}\n{}", shard * kCasesPerShard + i, open.text,
                             network.batch, network.heads, network.seq_q, network.seq_kv, network.emb, network.rules(),
                             config::to_yaml(machine)));
    job::Schedule chosen;
    try {
      chosen = runs::complete(machine, network, open);
    } catch (const std::runtime_error&) {
      continue;  // no schedule fits
    }
    const schedule::Job made = job::make_job(machine, network, chosen);
    if (schedule::answer_of(made).status != hal::Status::kDone) continue;  // none that fits runs to its end
    const job::RunResult result =
        runs::Runner(machine, config::load_energy("fusemax-45nm"), false).run(network, chosen, nullptr, {});
    schedule::Counts counts = schedule::count(made, machine);
    if (multicast) take_saved(counts, result);
    expect_same(counts, result);
    EXPECT_LE(schedule::least_cycles(made, machine), static_cast<double>(result.cycles));
    expect_accounted(result);
    expect_at_most(result, machine, network);
    if (multicast) joined += result.sum("bus", "multicast_reads");
    if (staging) {
      staged += result.sum("l2", "write_words");
      const schedule::check::Report report =
          schedule::check::check(made, machine, {job::result_bytes(network, chosen)});
      for (const schedule::check::Finding& f : report.findings) ADD_FAILURE() << to_text(f);
    }
    ++compared;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GE(compared, 5) << "too few jobs fit their machine";
  EXPECT_TRUE(with != With::kMulticast || joined > 0);
  EXPECT_TRUE(!staging || staged > 0);
}

class CommandStream : public testing::TestWithParam<std::uint32_t> {};
TEST_P(CommandStream, AgreesWithTheSimulation) { agree(GetParam(), With::kNothing); }
INSTANTIATE_TEST_SUITE_P(Random, CommandStream, kRange);

class MulticastStream : public testing::TestWithParam<std::uint32_t> {};
TEST_P(MulticastStream, SavesWhatItSays) { agree(GetParam(), With::kMulticast); }
INSTANTIATE_TEST_SUITE_P(Random, MulticastStream, kRange);

class StagedStream : public testing::TestWithParam<std::uint32_t> {};
TEST_P(StagedStream, AgreesWithTheSimulation) { agree(GetParam(), With::kStaging); }
TEST_P(StagedStream, AgreesWithMulticast) { agree(GetParam(), With::kBoth); }
INSTANTIATE_TEST_SUITE_P(Random, StagedStream, kRange);

}  // namespace
}  // namespace attnvp
