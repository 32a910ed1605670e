// The paper's twelve networks with all their data: the machine's output against the golden reference.
#include "tests/platform/runs.h"
#include "tests/support/tuned.h"

namespace attnvp::runs {
namespace {

class NetworkRun : public testing::TestWithParam<NetworkAndDataflow> {};

TEST_P(NetworkRun, GoldenPasses) {
  const auto& [name, dataflow] = GetParam();
  const MachineConfig machine = config::load_hardware("edge");
  const workload::Attention network = workload::load(name).attention();
  const job::Tensors tensors = job::random_tensors(network, 1);
  runs::Runner runner(machine, config::load_energy(machine.energy), true);
  const job::RunResult result = runner.run(network, job::parse_dataflow(dataflow), &tensors, {});
  ASSERT_TRUE(result.golden_checked);
  EXPECT_TRUE(result.golden.passed) << result.golden.to_string();
  EXPECT_LE(result.max("l1", "peak_bytes"), machine.l1.size_bytes);
}

INSTANTIATE_TEST_SUITE_P(Paper, NetworkRun,
                         testing::Combine(testing::ValuesIn(kNetworks), testing::ValuesIn(kDataflows)), name_of);

}  // namespace
}  // namespace attnvp::runs
