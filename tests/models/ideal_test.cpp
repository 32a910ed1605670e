// Real hardware against its ideal on random jobs at equal tiles: DRAM with banks against a bus of the same peak without
// latency, networks against none, banks of L1 against none. Requests of equal times may be served in another order,
// which can help (docs/explanation/memory.md, "Realistic memories can be faster"): by how much is bounded here.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "platform/machine/hardware.h"
#include "platform/run/job.h"
#include "tests/support/tuned.h"

namespace attnvp {
namespace {

constexpr double kMostGain = 0.08;  // what another dma.arbitration gains at most, in 240 random jobs
constexpr unsigned kJobs = 16;

struct Job {
  std::vector<std::string> machine;
  std::string network, dataflow, part;
};

Job random_job(unsigned seed) {
  std::mt19937 random(seed);
  const auto pick = [&random](const std::vector<std::string>& of) { return of[random() % of.size()]; };
  Job job;
  const auto set = [&](const char* key, const std::vector<std::string>& of) {
    job.machine.push_back(fmt::format("{}={}", key, pick(of)));
  };
  set("clusters", {"1", "2", "3"});
  set("cores", {"1", "2", "3"});
  set("dma.outstanding", {"2", "4", "8", "16"});
  set("dma.burst", {"256B", "512B", "1KiB"});
  set("mac.rows", {"8", "16", "32"});
  set("vec.lanes", {"64", "256"});
  job.network = fmt::format("H={},N={},E={}", pick({"1", "2", "3", "4"}), pick({"48", "64", "96", "160"}),
                            pick({"16", "32", "64"}));
  job.dataflow = pick({"layerwise", "softpipe", "flat", "tileflow", "mas", "fusemax", "lean", "flash-decoding"});
  job.part = pick({"lpddr4-3200", "lpddr5-6400", "ddr5-4800", "hbm2", "gddr7"});
  return job;
}

job::RunResult run(const Job& job, const std::vector<std::string>& settings, const job::Schedule& schedule) {
  std::vector<std::string> all = job.machine;
  all.insert(all.end(), settings.begin(), settings.end());
  const MachineConfig machine = config::load_hardware("edge", all);
  runs::Runner runner(machine, config::load_energy(machine.energy), false);
  return runner.run(workload::load(job.network), schedule, nullptr, {});
}

class Ideal : public testing::TestWithParam<const char*> {};
TEST_P(Ideal, IsBeatenByTheOrderOfEqualTimesAtMost) {
  const std::string setting = GetParam();
  for (unsigned seed = 0; seed < kJobs; ++seed) {
    const Job job = random_job(seed);
    std::vector<std::string> ideal = {"dram.latency=0 ns"}, real = {"dram.latency=0 ns", setting};
    if (setting == "dram.policy=banked") {
      real.push_back("dram.part=" + job.part);
      const MachineConfig banked = config::load_hardware("edge", real);
      ideal.push_back(fmt::format("dram.bandwidth={:.0f} B/s", banked.dram.bytes_per_second));
    }
    const job::RunResult best = run(job, ideal, job::parse_dataflow(job.dataflow));
    const job::RunResult found = run(job, real, best.schedule);
    EXPECT_GE(static_cast<double>(found.cycles), found.bound.most.cycles) << setting << " on " << job.network;
    EXPECT_GT(static_cast<double>(found.cycles), (1 - kMostGain) * static_cast<double>(best.cycles))
        << setting << " on " << job.network << " with " << job.dataflow << ", "
        << fmt::format("{}", fmt::join(job.machine, " "));
  }
}
INSTANTIATE_TEST_SUITE_P(Real, Ideal,
                         testing::Values("dram.policy=banked", "interconnect.kind=crossbar", "interconnect.kind=mesh",
                                         "l1.kind=banked", "dram.latency=20 ns"),
                         [](const auto& setting) {
                           std::string name = setting.param;
                           for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
                           return name;
                         });

}  // namespace
}  // namespace attnvp
