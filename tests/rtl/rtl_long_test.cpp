// The paper's networks with --vec rtl.
#include "tests/rtl/rtl_runs.h"

namespace attnvp::runs {
namespace {

class RtlNetwork : public testing::TestWithParam<NetworkAndDataflow> {};

TEST_P(RtlNetwork, GivesTheModelsOutputInNearlyItsCycles) {
  expect_rtl_is_model(std::get<0>(GetParam()), std::get<1>(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Paper, RtlNetwork,
                         testing::Combine(testing::ValuesIn(kNetworks), testing::Values("mas", "flat")), name_of);

}  // namespace
}  // namespace attnvp::runs
