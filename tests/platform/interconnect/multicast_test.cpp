// Clusters that read the same K and V, with and without multicast.
#include <fmt/format.h>

#include "tests/platform/runs.h"
#include "tests/support/tuned.h"

namespace attnvp::runs {
namespace {

MachineConfig clusters_on(const std::string& kind, bool multicast) {
  return config::load_hardware("cluster3", {"interconnect.kind=" + kind,
                                            fmt::format("interconnect.multicast={}", multicast ? "true" : "false")});
}

class Multicast : public testing::TestWithParam<NetworkAndDataflow> {};

// One head's row blocks on three clusters, which begin together: K and V leave DRAM once, and Q, of which each has its
// own rows.
TEST_P(Multicast, KAndVOfAHeadAreReadOnce) {
  const auto& [kind, dataflow] = GetParam();
  const workload::Attention network = workload::load("H=1,N=768,E=64").attention();
  const std::uint64_t matrix = 768 * 64 * 2;
  const job::Tensors tensors = job::random_tensors(network, 1);
  std::vector<std::uint16_t> output;
  std::uint64_t cycles = 0, hops = 0, received = 0;
  for (const bool multicast : {false, true}) {
    const MachineConfig machine = clusters_on(kind, multicast);
    runs::Runner runner(machine, config::load_energy(machine.energy), true);
    job::Schedule schedule = job::parse_dataflow(dataflow);
    schedule.tiling = job::parse_tiling("nq=64,nkv=64,kv=2");  // row blocks for all clusters
    const job::RunResult r = runner.run(network, schedule, &tensors, {});
    EXPECT_TRUE(r.golden.passed) << r.golden.to_string();
    EXPECT_EQ(2 * r.sum("dram", "read_words"), multicast ? 3 * matrix : (1 + 3 * 2) * matrix);
    EXPECT_EQ(2 * r.sum("dram", "write_words"), matrix);
    EXPECT_EQ(r.has("bus", "multicast_reads"), multicast);
    if (!multicast) {
      output = r.output;
      cycles = r.cycles;
      hops = r.sum("bus", "flit_hops");
      received = r.sum("dma", "read_bytes");
      continue;
    }
    EXPECT_EQ(r.output, output);
    EXPECT_LT(r.cycles, cycles);
    EXPECT_EQ(r.sum("bus", "multicast_bytes"), 4 * matrix);
    EXPECT_EQ(r.sum("dma", "read_bytes"), received);
    // Every answer of 1 KiB that two more clusters share saves the link of DRAM's port twice.
    const std::uint64_t once = 4 * matrix / 1024 * 17;
    if (kind == "crossbar") {
      EXPECT_EQ(hops - r.sum("bus", "flit_hops"), once);
    } else {
      EXPECT_GE(hops - r.sum("bus", "flit_hops"), once);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Networks, Multicast,
                         testing::Combine(testing::Values("crossbar", "mesh"), testing::Values("mas", "flat")),
                         name_of);

// All dataflows, with grouped queries and a mask: the same output, and the same cycles without data.
class MulticastOf : public testing::TestWithParam<std::string> {};
TEST_P(MulticastOf, GoldenPassesAndTimingIsFullData) {
  const workload::Attention network = workload::load("H=4,HKV=1,N=192,E=32,causal=1").attention();
  const job::Tensors tensors = job::random_tensors(network, 1);
  for (const char* kind : {"crossbar", "mesh"}) {
    const MachineConfig plain = clusters_on(kind, false), machine = clusters_on(kind, true);
    const job::Schedule schedule = runs::complete(plain, network, job::parse_dataflow(GetParam()));
    const config::EnergyTable energy = config::load_energy(machine.energy);
    const job::RunResult without = runs::Runner(plain, energy, true).run(network, schedule, &tensors, {});
    const job::RunResult full = runs::Runner(machine, energy, true).run(network, schedule, &tensors, {});
    runs::Runner runner(machine, energy, false);
    const job::RunResult timing = runner.run(network, schedule, nullptr, {});
    expect_same_counts(timing, runner.run(network, schedule, nullptr, {}));
    EXPECT_TRUE(full.golden.passed) << full.golden.to_string();
    EXPECT_EQ(full.output, without.output);
    expect_same_counts(full, timing);
    EXPECT_EQ(full.sum("dram", "read_words") * 2 + full.sum("bus", "multicast_bytes"), full.sum("dma", "read_bytes"));
    EXPECT_LE(full.sum("dram", "read_words"), without.sum("dram", "read_words"));
  }
}
INSTANTIATE_TEST_SUITE_P(Dataflows, MulticastOf,
                         testing::Values("layerwise", "softpipe", "flat", "flat:overlap=on", "tileflow", "mas",
                                         "fusemax", "cascade", "lean", "flash-decoding", "flash2"),
                         [](const auto& of) { return test_name(of.param); });

}  // namespace
}  // namespace attnvp::runs
