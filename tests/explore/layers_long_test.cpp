// Whole layers of models on machines, every operation with its values: minutes, therefore labelled long.
#include <gtest/gtest.h>

#include <numeric>

#include "explore/layers/layers.h"
#include "platform/machine/hardware.h"
#include "platform/run/results/accounting.h"

namespace attnvp::explore {
namespace {

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

// Of an extent that is loaded in tiles: what `cost` says of each.
template <typename Cost>
std::uint64_t over_tiles(std::uint64_t extent, std::uint64_t tile, const Cost& cost) {
  return extent / tile * cost(tile) + cost(extent % tile);
}

// A block of rows of all cores and of columns has both operands come once for it, its sub-tiles take whole passes.
void expect_by_hand(const MachineConfig& machine, const job::RunResult& r) {
  const workload::Gemm& n = *r.network.gemm();
  const auto tile = [&](const char* name) { return std::uint64_t{r.schedule.tiling[name]}; };
  const std::uint64_t rows = n.rows, columns = n.columns, depth = n.depth;
  const std::uint64_t words = rows * depth * ceil_div(columns, tile("nkv")) +
                              columns * depth * ceil_div(rows, tile("nq") * machine.cores) + rows * columns;
  EXPECT_EQ(job::imbalance_of(r).dma_bytes.total(), 2 * words);
  EXPECT_EQ(r.sum("mac", "macs"), rows * columns * depth);
  const auto passes = [&](std::uint64_t extent, const char* block, const char* sub, std::uint64_t array) {
    return over_tiles(extent, tile(block), [&](std::uint64_t here) {
      return over_tiles(here, tile(sub), [&](std::uint64_t part) { return ceil_div(part, array); });
    });
  };
  const std::uint64_t pes = std::uint64_t{machine.mac.rows} * machine.mac.columns;
  EXPECT_EQ(r.sum("mac", "slots"), passes(rows, "nq", "m0", machine.mac.rows) *
                                       passes(columns, "nkv", "n0", machine.mac.columns) * depth * pes);
}

class LayersOfModels : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(LayersOfModels, AreSumsOfGoldenOperationsWhoseProductsAreAsByHand) {
  const auto& [hardware, network] = GetParam();
  const MachineConfig machine = config::load_hardware(hardware);
  const LayerRun layer = run_layer(machine, workload::load(network + std::string(",scope=layer")), "mas",
                                   config::load_energy(machine.energy), {});
  const auto sum = [&](auto part) {
    const std::vector<OperationRun>& operations = layer.layer().operations;
    return std::accumulate(operations.begin(), operations.end(), decltype(part(job::RunResult())){},
                           [&](auto so_far, const OperationRun& o) { return so_far + part(o.result); });
  };
  EXPECT_EQ(layer.totals().cycles, sum([](const job::RunResult& r) { return r.cycles; }));
  EXPECT_DOUBLE_EQ(layer.totals().energy_pj, sum([](const job::RunResult& r) { return r.total_energy_pj(); }));
  int products = 0;
  for (const auto& [name, result, count] : layer.layer().operations) {
    SCOPED_TRACE(name);
    EXPECT_TRUE(result.golden_checked);
    EXPECT_TRUE(result.golden.passed) << result.golden.to_string();
    if (result.network.gemm() == nullptr) continue;
    expect_by_hand(machine, result);
    ++products;
  }
  EXPECT_EQ(products, 4);
  std::printf("%llu cycles, %llu bytes of DRAM\n", static_cast<unsigned long long>(layer.totals().cycles),
              static_cast<unsigned long long>(layer.totals().dram_bytes));
}

INSTANTIATE_TEST_SUITE_P(Shipped, LayersOfModels,
                         ::testing::Combine(::testing::Values("edge", "a100", "a100-80gb"),
                                            ::testing::Values("bert-base", "vit-b-16", "llama3.1-8b",
                                                              "llama3.1-8b,phase=decode,batch=1,cache=8192")));

}  // namespace
}  // namespace attnvp::explore
