// Jobs side by side: each computes what it computes by itself, and they hold one another up as far as they share DRAM.
#include "platform/run/beside.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "platform/report/report.h"
#include "platform/workload/workload.h"
#include "tests/platform/control/riscv_runs.h"
#include "tests/platform/random_jobs.h"
#include "tests/support/tuned.h"

namespace attnvp::runs {
namespace {

struct Job {
  std::string network, dataflow, clusters, tiling{};
};

job::SideBySide together(const MachineConfig& machine, const std::vector<Job>& jobs, bool full = true) {
  std::vector<job::ClusterRange> clusters;
  std::vector<job::Neighbour> neighbours;
  for (const Job& j : jobs) {
    clusters.push_back(job::parse_clusters(j.clusters));
    neighbours.push_back({workload::load(j.network), job::parse_dataflow(j.dataflow), {}});
    neighbours.back().schedule.tiling = job::parse_tiling(j.tiling);
    if (full) neighbours.back().tensors = job::random_tensors(neighbours.back().network, neighbours.size());
  }
  const std::vector<job::MachinePart> parts = job::parts_of(machine, clusters);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    neighbours[i].schedule = complete(parts[i].machine, neighbours[i].network, neighbours[i].schedule);
  }
  return job::run_beside(machine, config::load_energy(machine.energy), full, parts, neighbours);
}

void expect_golden(const job::SideBySide& all) {
  for (const job::NeighbourResult& j : all.jobs) {
    EXPECT_TRUE(j.result.golden_checked) << j.result.network.name();
    EXPECT_TRUE(j.result.golden.passed) << j.result.golden.to_string();
  }
}

// Of the machine's DRAM; words, an odd last byte as one.
void expect_dram_adds_up(const job::SideBySide& all) {
  std::uint64_t read = 0, written = 0;
  double shares = 0;
  for (const job::NeighbourResult& j : all.jobs) {
    read += j.dram_read_bytes;
    written += j.dram_write_bytes;
    shares += all.share(j);
  }
  EXPECT_EQ(read, 2 * all.machine.sum("dram", "read_words"));
  EXPECT_EQ(written, 2 * all.machine.sum("dram", "write_words"));
  EXPECT_NEAR(shares, 1, 1e-12);
}

// The machine as a single job's: its part of DRAM is all there is.
MachineConfig machine_of(const MachineConfig& machine, const std::vector<Job>& jobs, std::size_t i) {
  std::vector<job::ClusterRange> clusters;
  for (const Job& j : jobs) clusters.push_back(job::parse_clusters(j.clusters));
  return job::parts_of(machine, clusters)[i].machine;
}

job::RunResult by_itself(const MachineConfig& machine, const Job& j, std::uint64_t seed) {
  const workload::Attention n = workload::load(j.network).attention();
  const job::Tensors tensors = job::random_tensors(n, seed);
  job::Schedule schedule = job::parse_dataflow(j.dataflow);
  schedule.tiling = job::parse_tiling(j.tiling);
  return runs::Runner(machine, config::load_energy(machine.energy), true).run(n, schedule, &tensors, {});
}

class Copies : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

// DRAM and its bus take no time: what is left is each one's own.
TEST_P(Copies, TakeNoLongerOnIdealDram) {
  const auto& [cpu, dataflow] = GetParam();
  if (cpu == "riscv") ATTNVP_NEEDS_RISCV();
  MachineConfig machine = config::load_hardware("cluster3");
  machine.control.cpu = cpu;
  machine.dram.bytes_per_second = 1e18;
  machine.dram.latency_seconds = 0;
  const std::vector<Job> jobs = {{"H=3,N=128,E=64", dataflow, "0"}, {"H=3,N=128,E=64", dataflow, "1"}};
  const job::SideBySide all = together(machine, jobs);
  const job::RunResult alone = by_itself(machine_of(machine, jobs, 1), jobs[1], 2);
  expect_golden(all);
  expect_dram_adds_up(all);
  for (const job::NeighbourResult& j : all.jobs) {
    EXPECT_EQ(j.result.cycles, alone.cycles);
    EXPECT_EQ(j.alone_cycles, alone.cycles);
    EXPECT_EQ(j.slowdown(), 1);
    EXPECT_EQ(all.share(j), 0.5);
  }
  EXPECT_EQ(all.cycles, alone.cycles);
  EXPECT_EQ(all.jobs[1].result.output, alone.output);  // of the same tensors
  EXPECT_NE(all.jobs[0].result.output, alone.output);
  // Whatever its engines and memories counted, energy included.
  std::size_t compared = 0;
  for (const job::CounterValue& c : all.jobs[1].result.counters) {
    const std::string here = "attnvp.cluster1", there = "attnvp.cluster0";
    for (const job::CounterValue& other : alone.counters) {
      if (other.name != c.name || other.module != there + c.module.substr(here.size())) continue;
      EXPECT_EQ(c.value, other.value) << c.module << "." << c.name;
      EXPECT_EQ(c.energy_pj, other.energy_pj) << c.module << "." << c.name;
      ++compared;
    }
  }
  EXPECT_EQ(compared, all.jobs[1].result.counters.size());
}

std::string copy_name(const testing::TestParamInfo<std::tuple<std::string, std::string>>& of) {
  return test_name(std::get<0>(of.param) + "_" + std::get<1>(of.param));
}

INSTANTIATE_TEST_SUITE_P(Dataflows, Copies,
                         testing::Combine(testing::Values("native", "riscv"),
                                          testing::Values("mas", "flat", "layerwise", "lean", "flash2", "fusemax")),
                         copy_name);

// A DRAM that both need all the time: one after the other would take no longer, and each is held up.
TEST(Beside, SlowDramIsShared) {
  const MachineConfig machine = config::load_hardware("cluster3", {"dram.bandwidth=3 GB/s"});
  const job::SideBySide all = together(machine, {{"H=3,N=128,E=64", "mas", "0-1"}, {"H=3,N=128,E=64", "flat", "2"}});
  expect_golden(all);
  expect_dram_adds_up(all);
  const std::uint64_t sum = all.jobs[0].alone_cycles + all.jobs[1].alone_cycles;
  for (const job::NeighbourResult& j : all.jobs) {
    EXPECT_GT(j.result.cycles, j.alone_cycles);
    EXPECT_GT(j.slowdown(), 1.4);
    EXPECT_LE(static_cast<double>(j.result.cycles), 1.01 * static_cast<double>(sum));
    const DramBytes least = least_dram_bytes(j.result.network.attention(), "flat");
    EXPECT_EQ(j.dram_read_bytes, least.read);  // three heads on two clusters: none is halved where DRAM is slow
    EXPECT_EQ(j.dram_write_bytes, least.write);
  }
  EXPECT_GT(all.machine.utilization.dram, 0.95);
}

// Workers of two clusters that merge each other's parts, by events of a cluster whose number is not its job's.
class Remote : public testing::TestWithParam<std::string> {};

TEST_P(Remote, EventsAreOfTheJobsOwnClusters) {
  const bool riscv = GetParam() != "native";
  if (riscv) ATTNVP_NEEDS_RISCV();
  MachineConfig machine = config::load_hardware("cluster3");
  machine.control.cpu = riscv ? "riscv" : "native";
  machine.control.lists = GetParam() == "lists";
  const std::vector<Job> jobs = {{"H=3,HKV=1,NQ=1,NKV=700,E=32", "lean", "1-2", "nkv=64"},
                                 {"H=2,N=64,E=32", "mas", "0"}};
  const job::SideBySide all = together(machine, jobs);
  expect_golden(all);
  EXPECT_GT(all.jobs[0].result.statistic("partition.workers"), 2U);
  ASSERT_EQ(all.jobs[0].result.workers.size(), 4U);
  EXPECT_EQ(all.jobs[0].result.workers.front().cluster, 1U);
  EXPECT_EQ(all.jobs[0].result.output, by_itself(machine_of(machine, jobs, 0), jobs[0], 1).output);
  EXPECT_EQ(all.jobs[1].result.output, by_itself(machine_of(machine, jobs, 1), jobs[1], 2).output);
}

INSTANTIATE_TEST_SUITE_P(Control, Remote, testing::Values("native", "riscv", "lists"));

class Machines : public testing::TestWithParam<const char*> {};

// Networks that take time, memories that all share, layers with a cache, pages, types of their own.
TEST_P(Machines, GoldenOfEveryJob) {
  MachineConfig machine = config::load_hardware("cluster3", {"clusters=4", GetParam()});
  if (machine.l2.kind == "scratchpad") {
    machine = config::load_hardware("cluster3", {"clusters=4", GetParam(), "l2.size=4 MiB", "l2.staging=true"});
  }
  const std::vector<Job> jobs = {{"H=3,N=160,E=32", "flat", "3", "kv=stream,nq=16,nkv=40"},
                                 {"H=4,HKV=2,N=96,E=32,causal=1,type=int8", "mas", "0", "kv=stream,nq=16,nkv=40"},
                                 {"H=4,HKV=2,phase=decode,cache=200,batch=2,page=16,E=32", "lean", "1-2"}};
  const job::SideBySide all = together(machine, jobs);
  expect_golden(all);
  if (!all.machine.has("bus", "multicast_reads")) expect_dram_adds_up(all);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    EXPECT_EQ(all.jobs[i].result.output, by_itself(machine_of(machine, jobs, i), jobs[i], i + 1).output);
    EXPECT_GE(all.jobs[i].slowdown(), 0.99);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Machines,
                         testing::Values("interconnect.kind=ideal", "interconnect.kind=crossbar",
                                         "interconnect.kind=mesh", "l2.kind=scratchpad", "l1.kind=banked"),
                         [](const auto& of) { return test_name(of.param); });

class Pairs : public testing::TestWithParam<int> {};

// Of any dataflows, on any machine. A job waits for no longer than the other keeps DRAM's bus, a cycle more for each of
// its bursts, as these are rounded up; and a write of its own may wait for the latency of the other's read before it,
// as the bus is taken in the order of asking. Beyond that, commands that come at other times may come in another order.
TEST_P(Pairs, AreGoldenAndHoldUpEachOther) {
  int done = 0;
  for (std::uint32_t number = 0; number < 8; ++number) {
    Random r(static_cast<std::uint32_t>(GetParam()) * 10007 + number);
    MachineConfig m = random_machine(r);
    m.clusters = r.from(2, 4);
    m.energy = "fusemax-45nm";
    const std::uint32_t cut = r.from(1, m.clusters - 1);
    const std::vector<job::MachinePart> parts = job::parts_of(m, {{cut, m.clusters - cut}, {0, cut}});
    std::vector<job::Neighbour> jobs;
    std::vector<job::RunResult> alone;
    std::string text;
    try {
      for (const job::MachinePart& part : parts) {
        const std::string dataflow = kUnderRules[r.from(0, static_cast<std::uint32_t>(kUnderRules.size()) - 1)];
        jobs.push_back({random_network(r), job::parse_dataflow(dataflow), {}});
        jobs.back().tensors = job::random_tensors(jobs.back().network, number);
        text += fmt::format("{} {}: {}; ", dataflow, part.machine.name, jobs.back().network.identity());
        runs::Runner runner(part.machine, config::load_energy(m.energy), true);
        alone.push_back(runner.run(jobs.back().network, jobs.back().schedule, &jobs.back().tensors, {}));
        jobs.back().schedule = alone.back().schedule;  // as chosen
      }
    } catch (const std::runtime_error&) {  // does not fit; which other tests look at
      continue;
    }
    SCOPED_TRACE(fmt::format("case {}: {}\n{}", number, text, config::to_yaml(m)));
    const job::SideBySide all = job::run_beside(m, config::load_energy(m.energy), true, parts, jobs);
    const job::SideBySide timing = job::run_beside(m, config::load_energy(m.energy), false, parts, jobs);
    expect_golden(all);
    const double bytes_per_cycle = m.dram.bytes_per_second / m.clock_hz;
    for (std::size_t i = 0; i < 2; ++i) {
      const job::NeighbourResult& j = all.jobs[i];
      const auto cycles = static_cast<double>(j.result.cycles);
      // Where there are more processors, what is due at the same time may take turns otherwise.
      EXPECT_NEAR(static_cast<double>(j.alone_cycles), static_cast<double>(alone[i].cycles), 0.01 * cycles);
      EXPECT_EQ(j.result.output, alone[i].output);
      EXPECT_EQ(j.result.cycles, timing.jobs[i].result.cycles);
      EXPECT_EQ(j.result.sum("mac", "macs"), alone[i].sum("mac", "macs"));
      EXPECT_EQ(j.result.sum("l1", "read_words"), alone[i].sum("l1", "read_words"));
      EXPECT_EQ((j.dram_read_bytes + 1) / 2, alone[i].sum("dram", "read_words"));
      EXPECT_EQ((j.dram_write_bytes + 1) / 2, alone[i].sum("dram", "write_words"));
      const job::NeighbourResult& other = all.jobs[1 - i];
      const double kept = static_cast<double>(other.dram_bytes()) / bytes_per_cycle +
                          static_cast<double>(other.result.sum("dma", "bursts"));
      const double behind_reads = std::ceil(m.dram.latency_seconds * m.clock_hz) *
                                  static_cast<double>(j.dram_write_bytes) / static_cast<double>(m.dma.burst_bytes);
      EXPECT_GE(cycles, 0.9 * static_cast<double>(j.alone_cycles));
      EXPECT_LE(cycles, 1.05 * (static_cast<double>(j.alone_cycles) + kept + behind_reads) + 100);
    }
    ++done;
    if (HasFailure()) return;
  }
  EXPECT_GT(done, 0);
}

#ifdef ATTNVP_LONG
const auto kShards = testing::Range(5, 60);
#else
const auto kShards = testing::Range(0, 5);
#endif
INSTANTIATE_TEST_SUITE_P(Random, Pairs, kShards);

TEST(Beside, ReportsTellBothAndTheWhole) {
  const MachineConfig machine = config::load_hardware("cluster3");
  const job::SideBySide all = together(machine, {{"H=3,N=64,E=32", "mas", "0-1"}, {"H=2,N=64,E=32", "flat", "2"}});
  const nlohmann::json j = nlohmann::json::parse(report::to_json(all, machine.name, {}));
  ASSERT_EQ(j["jobs"].size(), 2U);
  EXPECT_EQ(j["jobs"][0]["clusters"]["count"], 2);
  EXPECT_EQ(j["jobs"][1]["clusters"]["first"], 2);
  EXPECT_EQ(j["jobs"][1]["cycles"], all.jobs[1].result.cycles);
  EXPECT_EQ(j["jobs"][1]["golden"]["passed"], true);
  EXPECT_EQ(j["together"]["cycles"], std::max(all.jobs[0].result.cycles, all.jobs[1].result.cycles));
  // No leakage here: DRAM's energy is what no job's clusters have.
  double energy = all.machine.energy_pj("dram");
  for (const job::NeighbourResult& n : all.jobs) energy += n.result.total_energy_pj();
  EXPECT_GT(all.machine.energy_pj("dram"), 0);
  EXPECT_NEAR(energy, all.machine.total_energy_pj(), 1e-9 * energy);
  const std::string text = report::to_text(all, machine.name);
  for (const char* part : {"0-1", "slowdown", "together: "}) EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Beside, OneJobHasItsClustersAlone) {
  const MachineConfig machine = config::load_hardware("cluster3");
  const std::vector<Job> jobs = {{"H=3,N=64,E=32", "mas", "1-2"}};
  const job::SideBySide all = together(machine, jobs);
  expect_golden(all);
  EXPECT_EQ(all.cycles, by_itself(config::load_hardware("cluster3", {"clusters=2"}), jobs[0], 1).cycles);
  EXPECT_EQ(all.jobs[0].slowdown(), 1);
}

std::string refusal_of(const std::vector<std::string>& clusters) {
  try {
    std::vector<job::ClusterRange> wanted;
    for (const std::string& text : clusters) wanted.push_back(job::parse_clusters(text));
    job::parts_of(config::load_hardware("cluster3"), wanted);
  } catch (const config::ConfigError& e) {
    return e.what();
  }
  return "";
}

TEST(Beside, ClustersThatCannotBeAreRefused) {
  EXPECT_EQ(refusal_of({"0-1", "2"}), "");
  EXPECT_EQ(refusal_of({"2", "0-1"}), "");
  EXPECT_EQ(refusal_of({"0-1", "1-2"}), "two jobs want cluster 1: clusters 0-1 and 1-2; each has its own");
  EXPECT_EQ(refusal_of({"0", "3"}), "clusters 3: cluster3 has clusters 0 to 2");
  EXPECT_EQ(refusal_of({"1-0"}), "clusters: found '1-0', which are none; allowed is the lower number first");
  for (const char* text : {"", "-", "1-", "-1", "a", "0,2", "0-1-2", " 1", "4294967296"}) {
    EXPECT_NE(refusal_of({text}).find("allowed is a cluster or a range of them"), std::string::npos) << text;
  }
  EXPECT_NE(refusal_of({"0-4294967295"}).find("has clusters 0 to 2"), std::string::npos);
}

// What does not fit into a job's even part of DRAM is refused with that.
TEST(Beside, DramIsDividedEvenly) {
  const MachineConfig machine = config::load_hardware("cluster3", {"dram.size=1 MiB"});
  const std::vector<Job> jobs = {{"H=3,N=64,E=32", "mas", "0"}, {"H=3,N=1024,E=32", "mas", "1"}};
  EXPECT_EQ(machine_of(machine, jobs, 1).dram.size_bytes, 512U << 10);
  EXPECT_THROW(together(machine, jobs), config::ConfigError);
  EXPECT_NO_THROW(together(machine, {jobs[1]}, false));
}

}  // namespace
}  // namespace attnvp::runs
