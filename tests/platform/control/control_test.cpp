// The paper's networks in every dataflow with RISC-V control, by itself and by command lists: golden passes, and
// engines get what native control gives them. (Where K and V are streamed, rows of Q stand between them as queues have
// room.)
#include <fmt/format.h>

#include <algorithm>

#include "platform/schedule/programs.h"
#include "tests/platform/control/riscv_runs.h"

namespace attnvp {
namespace {

using runs::machine_with;
using runs::run_job;

class Networks : public testing::TestWithParam<const char*> {};

void expect_same(const std::string& hardware, const std::string& network, const std::string& dataflow) {
  const auto native = run_job(machine_with(hardware, {}), network, dataflow);
  for (const char* lists : {"control.lists=false", "control.lists=true"}) {
    const std::string what = fmt::format("{} on {} with {}, {}", network, hardware, dataflow, lists);
    auto riscv = run_job(machine_with(hardware, {"control.cpu=riscv", lists}), network, dataflow, true,
                         native.result.schedule.tiling);
    EXPECT_TRUE(riscv.result.golden.passed) << what;
    EXPECT_TRUE(native.result.output == riscv.result.output) << what;
    auto wanted = native.descriptors;
    for (auto* all : {&wanted, &riscv.descriptors}) {
      for (auto& [queue, descriptors] : *all) std::sort(descriptors.begin(), descriptors.end());
    }
    EXPECT_TRUE(wanted == riscv.descriptors) << what;
  }
}

TEST_P(Networks, AreTheSameWithRiscvControl) {
  ATTNVP_NEEDS_RISCV();
  for (const firmware::Dataflow* d : schedule::dataflows_for(true)) {
    if (d->is(firmware::kPacked) || std::string(d->name) == "fusemax") continue;  // of other machines
    expect_same("edge", GetParam(), d->name);
  }
}

INSTANTIATE_TEST_SUITE_P(Long, Networks,
                         testing::Values("bert-base", "bert-large", "bert-small", "llama3-8b", "t5-mini", "vit-b-14",
                                         "vit-l-14", "vit-h-14", "vit-b-16", "vit-l-16", "vit-h-16", "xlm"),
                         [](const auto& of) { return runs::test_name(of.param); });

TEST(Long, OtherMachinesAreTheSameWithRiscvControl) {
  ATTNVP_NEEDS_RISCV();
  expect_same("cluster3", "H=8,NQ=1,NKV=4096,E=64", "lean");
  expect_same("fusemax", "bert-base", "fusemax");
}

}  // namespace
}  // namespace attnvp
