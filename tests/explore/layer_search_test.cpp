// Search of tile sizes over the operations of layers and models.
#include <gtest/gtest.h>

#include "explore/layers/layers.h"
#include "platform/machine/hardware.h"
#include "platform/workload/workload.h"

namespace attnvp::explore {
namespace {

const std::string kLayer = "H=4,N=64,E=32,causal=1,hidden=128,ffn=256,rotary=1,layers=3,vocabulary=90,scope=";

LayerSearch search(const std::string& scope, std::uint64_t evaluations, bool is_stopped = false) {
  const MachineConfig machine = config::load_hardware("edge");
  LayerSearchOptions options;
  options.tuning.evaluations = evaluations;
  options.is_stopped = [is_stopped] { return is_stopped; };
  return search_layers(machine, workload::load(kLayer + scope), "mas", config::load_energy(machine.energy), options);
}

TEST(LayerSearch, AddsUpTheBestOfEachOperation) {
  const LayerSearch found = search("model", 12);
  double best = 0, bound = 0;
  for (const OperationSearch& o : found.operations) {
    EXPECT_EQ(o.times, o.group == "layer" ? 3U : 1U) << o.name;
    EXPECT_LE(o.result.bound, o.result.best.cost.first) << o.name;
    EXPECT_LE(o.result.log.size(), 12U) << o.name;
    best += static_cast<double>(o.times) * o.result.best.cost.first;
    bound += static_cast<double>(o.times) * o.result.bound;
  }
  EXPECT_DOUBLE_EQ(found.best, best);
  EXPECT_DOUBLE_EQ(found.bound, bound);
  EXPECT_GT(found.bound, 0);
  EXPECT_DOUBLE_EQ(found.gap(), best / bound - 1);
}

// What a run chooses is one of the tilings that a longer search may find.
TEST(LayerSearch, IsNoWorseThanARun) {
  const LayerSearch found = search("layer", 400);
  const MachineConfig machine = config::load_hardware("edge");
  LayerOptions options;
  options.full = false;
  options.tuning.use_cache = false;
  const LayerRun run =
      run_layer(machine, workload::load(kLayer + "layer"), "mas", config::load_energy(machine.energy), options);
  ASSERT_EQ(found.operations.size(), run.layer().operations.size());
  for (std::size_t i = 0; i < found.operations.size(); ++i) {
    EXPECT_EQ(found.operations[i].name, run.layer().operations[i].name);
    EXPECT_LE(found.operations[i].result.best.cycles, static_cast<double>(run.layer().operations[i].result.cycles))
        << found.operations[i].name;
  }
}

TEST(LayerSearch, HasATilingForEachOperationWhenStopped) {
  const LayerSearch found = search("layer", 400, true);
  ASSERT_EQ(found.operations.size(), 11U);
  for (const OperationSearch& o : found.operations) {
    EXPECT_TRUE(o.result.is_stopped) << o.name;
    EXPECT_GE(o.result.log.size(), 1U) << o.name;
    EXPECT_GT(o.result.best.cycles, 0) << o.name;
  }
}

}  // namespace
}  // namespace attnvp::explore
