// Readers of the command stream against the simulation of the same schedule: counts are equal, the bound is one, the
// estimate is near, what does not fit is known beforehand. Random machines, layers, tilings, every dataflow there is.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "mapping/bound.h"
#include "mapping/check/checker.h"
#include "mapping/counter.h"
#include "mapping/estimate.h"
#include "mapping/programs.h"
#include "models/network/config.h"
#include "platform/config/energy.h"
#include "platform/config/hardware.h"
#include "platform/job/job.h"
#include "tests/platform/random_jobs.h"
#include "tests/support/all_schedules.h"

namespace attnvp {
namespace {

using runs::all_schedules;
using runs::Random;
using runs::random_machine;
using runs::random_network;

constexpr std::uint32_t kShards = 20, kCasesPerShard = 20;

void expect_same(const mapping::Counts& c, const job::Result& r) {
  const auto same = [&](const char* module, const char* counter, std::uint64_t count) {
    EXPECT_EQ(r.sum(module, counter), count) << module << " " << counter;
  };
  const auto traffic = [&](const char* module, const mapping::Traffic& t) {
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
void expect_accounted(const job::Result& r) {
  EXPECT_FALSE(r.unit_times.empty());
  for (const job::UnitTime& unit : r.unit_times) {
    std::uint64_t sum = 0;
    for (const auto& [reason, cycles] : unit.cycles) sum += cycles;
    EXPECT_EQ(sum, r.cycles) << unit.unit;
  }
}

// The machine with the change that the advice names; false where there is no such machine.
bool advised(const job::Remedy& remedy, MachineConfig& m) {
  const auto* const key = config::hardware_schema().find(remedy.key);
  if (key == nullptr) return ADD_FAILURE() << remedy.key, false;
  const auto times = [&](auto value) -> config::Value {
    if constexpr (std::is_arithmetic_v<decltype(value)>) {
      return static_cast<decltype(value)>(static_cast<double>(value) * remedy.factor);
    }
    return value;
  };
  const config::Value before = key->get(m);
  key->set(m, std::visit(times, before));
  try {
    config::check_machine(m, {"advised"});
  } catch (const config::ConfigError&) {
    return false;
  }
  return key->get(m) != before;
}

// The same commands there: no faster than the sentence says.
void expect_at_most(const job::Result& r, MachineConfig machine, const config::Network& network) {
  if (!advised(r.bound.remedy, machine)) return;
  try {
    job::Runner runner(machine, config::load_energy("fusemax-45nm"), false);
    const job::Result faster = runner.run(network, r.schedule, nullptr, {});
    EXPECT_GE(static_cast<double>(faster.cycles) * r.bound.at_most() * (1 + 1e-9), static_cast<double>(r.cycles))
        << r.bound.most.resource;
  } catch (const std::runtime_error&) {  // that machine cannot
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
void take_saved(mapping::Counts& c, const job::Result& r) {
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
  const firmware::Dataflow& dataflow = *mapping::find_dataflow(schedule.dataflow);
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
    config::Network network = random_network(r);
    if (i % 2 == 1) runs::random_rules(r, network);
    std::vector<job::Schedule> schedules = all_schedules();
    if (staging) {  // by those that have it
      schedules.erase(std::remove_if(schedules.begin(), schedules.end(), streams_nothing), schedules.end());
    }
    job::Schedule open = schedules[r.from(0, static_cast<std::uint32_t>(schedules.size() - 1))];
    if (staging) add_staging(r, machine, open);
    config::check_machine(machine, {"random"});
    SCOPED_TRACE(fmt::format("case {}: {} on B={},H={},NQ={},NKV={},E={}{}\n{}", shard * kCasesPerShard + i, open.text,
                             network.batch, network.heads, network.seq_q, network.seq_kv, network.emb, network.rules(),
                             config::to_yaml(machine)));
    job::Schedule chosen;
    try {
      chosen = job::complete(machine, network, open);
    } catch (const std::runtime_error&) {
      continue;  // no schedule fits
    }
    const mapping::Job made = job::make_job(machine, network, chosen);
    EXPECT_TRUE(mapping::need_of(made).fits(made));
    const job::Result result =
        job::Runner(machine, config::load_energy("fusemax-45nm"), false).run(network, chosen, nullptr, {});
    mapping::Counts counts = mapping::count(made, machine);
    if (multicast) take_saved(counts, result);
    expect_same(counts, result);
    EXPECT_LE(mapping::least_cycles(made, machine), static_cast<double>(result.cycles));
    expect_accounted(result);
    expect_at_most(result, machine, network);
    if (multicast) joined += result.sum("bus", "multicast_reads");
    if (staging) {
      staged += result.sum("l2", "write_words");
      const mapping::check::Report report = mapping::check::check(made, machine, {job::result_bytes(network, chosen)});
      for (const mapping::check::Finding& f : report.findings) ADD_FAILURE() << to_text(f);
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
INSTANTIATE_TEST_SUITE_P(Random, CommandStream, testing::Range(0U, kShards));

class MulticastStream : public testing::TestWithParam<std::uint32_t> {};
TEST_P(MulticastStream, SavesWhatItSays) { agree(GetParam(), With::kMulticast); }
INSTANTIATE_TEST_SUITE_P(Random, MulticastStream, testing::Range(0U, kShards / 2));

class StagedStream : public testing::TestWithParam<std::uint32_t> {};
TEST_P(StagedStream, AgreesWithTheSimulation) { agree(GetParam(), With::kStaging); }
TEST_P(StagedStream, AgreesWithMulticast) { agree(GetParam(), With::kBoth); }
INSTANTIATE_TEST_SUITE_P(Random, StagedStream, testing::Range(0U, kShards / 2));

// The estimate is for comparing. These are hard cases: tiny layers, bursts of 16 bytes, one bank.
TEST(Estimate, IsNearTheSimulation) {
  std::vector<double> ratios;
  for (std::uint32_t i = 0; i < 60; ++i) {
    Random r(i * 2654435761U + 4711);
    const MachineConfig machine = random_machine(r);
    const config::Network network = random_network(r);
    config::check_machine(machine, {"random"});
    const std::vector<job::Schedule> schedules = all_schedules();
    const job::Schedule& open = schedules[i % schedules.size()];
    try {
      const job::Schedule chosen = job::complete(machine, network, open);
      mapping::Costs costs(machine);
      const double estimate = mapping::estimate(job::make_job(machine, network, chosen), costs, 100000).cycles;
      job::Runner runner(machine, config::load_energy("fusemax-45nm"), false);
      ratios.push_back(estimate / static_cast<double>(runner.run(network, chosen, nullptr, {}).cycles));
    } catch (const std::runtime_error&) {
    }
  }
  ASSERT_GE(ratios.size(), 20U);
  std::sort(ratios.begin(), ratios.end(), [](double a, double b) { return std::abs(a - 1) < std::abs(b - 1); });
  EXPECT_LE(std::abs(ratios[ratios.size() / 2] - 1), 0.02);
  EXPECT_LE(std::abs(ratios[ratios.size() * 8 / 10] - 1), 0.05);
  EXPECT_LE(ratios.back(), 1.3);
  EXPECT_GE(ratios.back(), 0.8);
}

// Engines of four cores on five ports of L1, on fewer, and on few banks: who is in whose way is a matter of percents.
TEST(Estimate, SharesL1AsTheSimulationDoes) {
  const std::vector<std::string> small = {"clusters=2",   "cores=4",        "mac.rows=128",          "mac.columns=128",
                                          "vec.lanes=64", "l0.size=256KiB", "dram.bandwidth=100GB/s"};
  const std::vector<std::string> narrow = {"clusters=2",    "cores=4",       "mac.rows=16",   "mac.columns=16",
                                           "vec.lanes=256", "l0.size=48KiB", "l1.size=32MiB", "dram.bandwidth=500GB/s"};
  const auto with = [](std::vector<std::string> keys, const std::vector<std::string>& more) {
    keys.insert(keys.end(), more.begin(), more.end());
    return keys;
  };
  const char* const tiles = "bb=1,hh=1,nq=16,nkv=128,m0=128,n0=128,k0=64,kv=2,rb=4,steps=2,spare=2,walk=tiles";
  struct {
    std::vector<std::string> keys;
    const char *network, *dataflow, *tiling;
  } const cases[] = {
      {small, "H=2,N=256,E=64", "weave", tiles},
      {with(small, {"l1.ports=1"}), "H=2,N=256,E=64", "weave", tiles},
      {with(small, {"l1.ports=2", "l1.banks=2"}), "H=2,N=256,E=64", "weave", tiles},
      {with(small, {"l1.banks=4"}), "H=2,N=256,E=64", "weave", tiles},
      {narrow, "H=8,N=2048,E=64,HKV=2", "weave",
       "bb=1,hh=1,nq=128,nkv=352,m0=32,n0=32,k0=64,kv=16,rb=64,steps=1,spare=none,walk=rows"},
      {narrow, "H=8,N=2048,E=64,HKV=2", "tileflow", "bb=1,hh=1,nq=16,nkv=800,m0=32,n0=32,k0=32,kv=2,rb=4"},
      // A port of its own, which an engine's fill, execution and drain share: 10% and 13%.
      {{"cores=1", "mac.rows=16", "mac.columns=16", "vec.lanes=16", "l0.size=48KiB", "l1.size=512KiB",
        "mac.resident_tiles=8", "dram.bandwidth=500GB/s"},
       "H=1,N=512,E=80",
       "weave",
       "bb=1,hh=1,nq=16,nkv=64,m0=32,n0=32,k0=64,kv=2,rb=4,steps=2,spare=none,walk=array"},
      {{"cores=1", "mac.rows=128", "mac.columns=128", "vec.lanes=256", "l0.size=256KiB", "l1.size=512KiB",
        "dram.bandwidth=500GB/s"},
       "H=16,N=128,E=32,HKV=4,causal=1",
       "tileflow",
       "bb=1,hh=2,nq=64,nkv=88,m0=128,n0=128,k0=64,kv=2,rb=4"},
      // Few bursts under way for DRAM's latency.
      {{"clusters=4", "cores=4", "mac.rows=64", "mac.columns=64", "vec.lanes=256", "l1.size=128KiB",
        "dram.bandwidth=2000GB/s"},
       "H=4,N=128,E=128,HKV=1,causal=1",
       "mas",
       "bb=1,hh=1,nq=12,nkv=64,m0=64,n0=64,k0=16,kv=1,rb=1"}};
  for (const auto& c : cases) {
    const MachineConfig machine = config::load_hardware("edge", c.keys);
    const config::Network network = config::load_network(c.network);
    job::Schedule schedule = job::parse_dataflow(c.dataflow);
    schedule.tiling = job::parse_tiling(c.tiling);
    mapping::Costs costs(machine);
    const double estimate = mapping::estimate(job::make_job(machine, network, schedule), costs, 100000).cycles;
    job::Runner runner(machine, config::load_energy(machine.energy), false);
    const auto simulated = static_cast<double>(runner.run(network, schedule, nullptr, {}).cycles);
    EXPECT_NEAR(estimate / simulated, 1, 0.015) << c.network << " " << c.dataflow << ", " << simulated << " cycles";
  }
}

// Few bursts of many clusters: who comes first goes on first, and in step they would all wait for each other. 36% and
// 6%.
TEST(Estimate, SharesTheBusAsTheSimulationDoes) {
  struct {
    std::vector<std::string> keys;
    const char *network, *dataflow, *tiling;
  } const cases[] = {{{"clusters=16", "cores=2", "mac.rows=32", "mac.columns=32", "vec.lanes=16", "l0.size=48KiB",
                       "l1.size=256KiB", "dram.bandwidth=500GB/s"},
                      "H=32,N=512,E=80",
                      "flat",
                      "bb=1,hh=1,nq=16,nkv=64,m0=32,n0=64,k0=4,kv=stream,rb=2,tb=3,sb=3"},
                     {{"clusters=2", "cores=4", "mac.rows=64", "mac.columns=64", "vec.lanes=256", "l0.size=64KiB",
                       "l1.size=128KiB", "dram.bandwidth=100GB/s"},
                      "H=8,N=256,E=64",
                      "fusemax",
                      "bb=1,hh=1,nq=16,nkv=64,m0=64,n0=64,k0=2,kv=1,rb=2,steps=1,spare=none"}};
  for (const auto& c : cases) {
    const MachineConfig machine = config::load_hardware("edge", c.keys);
    const config::Network network = config::load_network(c.network);
    job::Schedule given = job::parse_dataflow(c.dataflow);
    given.tiling = job::parse_tiling(c.tiling);
    const job::Schedule schedule = job::complete(machine, network, given);
    mapping::Costs costs(machine);
    const double estimate = mapping::estimate(job::make_job(machine, network, schedule), costs, 100000).cycles;
    job::Runner runner(machine, config::load_energy(machine.energy), false);
    const auto simulated = static_cast<double>(runner.run(network, schedule, nullptr, {}).cycles);
    EXPECT_NEAR(estimate / simulated, 1, 0.015) << c.network << " " << c.dataflow << ", " << simulated << " cycles";
  }
}

// A stream that is too long is judged by a part of it: loads that come long before products, rows that attend to few
// keys, a matmul by itself.
TEST(Estimate, OfAPartIsNearThatOfTheWhole) {
  const std::vector<std::string> small_l1 = {"cores=1",       "mac.rows=64",   "mac.columns=64",
                                             "vec.lanes=256", "l0.size=64KiB", "l1.size=128KiB"};
  struct {
    std::vector<std::string> keys;
    const char *network, *dataflow, *tiling;
  } const cases[] = {
      {{}, "gemm:1024x2048x2048", "gemm", "nq=128,nkv=800,m0=32,n0=32,k0=64,kv=2,kd=64"},
      {small_l1, "H=8,HKV=2,N=1024,E=80", "weave",
       "bb=1,hh=1,nq=20,nkv=60,m0=64,n0=64,k0=32,kv=3,rb=1,steps=1,spare=none,walk=alone"},
      {small_l1, "H=8,HKV=2,N=2048,E=80,causal=1", "weave",
       "bb=1,hh=1,nq=20,nkv=60,m0=64,n0=64,k0=32,kv=3,rb=1,steps=1,spare=none,walk=alone"},
      {{}, "H=12,N=1024,E=64", "tileflow", "bb=1,hh=1,nq=8,nkv=1024,m0=32,n0=32,k0=64,kv=1,rb=2"},
      {{"clusters=4"}, "H=4,N=1024,E=64,causal=1", "mas", "bb=1,hh=1,nq=24,nkv=16,m0=16,n0=16,k0=64,kv=stream,rb=2"}};
  for (const auto& c : cases) {
    const MachineConfig machine = config::load_hardware("edge", c.keys);
    job::Schedule schedule = job::parse_dataflow(c.dataflow);
    schedule.tiling = job::parse_tiling(c.tiling);
    const mapping::Job job = job::make_job(machine, config::load_network(c.network).folded(), schedule);
    mapping::Costs costs(machine);
    const double part = mapping::estimate(job, costs, 1000).cycles,
                 whole = mapping::estimate(job, costs, 3000000).cycles;
    EXPECT_NEAR(part / whole, 1, 0.1) << c.network << " " << c.dataflow;
  }
}

}  // namespace
}  // namespace attnvp
