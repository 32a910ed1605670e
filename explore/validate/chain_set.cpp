#include "explore/validate/chain_set.h"

#include <fmt/format.h>

#include <algorithm>

#include "explore/validate/job_set.h"

namespace attnvp::validate {

namespace {

// C = A(M x K) B(K x L), D = C E(L x N): one head of M queries and L keys without softmax.
// B and E of the pair take turns: each is loaded while the other one is multiplied.
constexpr std::uint32_t kRing = 1;

class ChainSet : public JobSet {
 public:
  explicit ChainSet(const Options& options) : JobSet(options, "tileflow-accelerator") {}

  std::vector<Point> predict(const Row& row) override {
    const std::uint64_t m = row.whole("M"), n = row.whole("N"), k = row.whole("K"), l = row.whole("L");
    if (n != k)
      config::fail(row.origin(), fmt::format("column 'N': found {}; allowed is that of column 'K', {}", n, k));
    const config::Network layer = layer_of(row, fmt::format("H=1,NQ={},NKV={},E={},softmax=none", m, l, k));
    const auto least = [&](const char* column, std::uint64_t extent) {
      const std::uint64_t tile = row.whole(column);
      if (tile == 0) config::fail(row.origin(), fmt::format("column '{}': found 0; allowed is 1 or more", column));
      return static_cast<std::uint32_t>(std::min(tile, extent));
    };
    const std::uint32_t nq = least("mM", m), kd = least("mK1", k), nkv = least("mK2", l);
    const job::Result r = run(machine_, layer, "chain",
                              {{"nq", nq},
                               {"nkv", nkv},
                               {"kd", kd},
                               {"m0", machine_.mac.rows},
                               {"n0", machine_.mac.columns},
                               {"k0", 16},
                               {"kv", kRing}});
    return {{"", row.positive("rtl_cycles"), static_cast<double>(r.cycles), "cycles", note(r)}};
  }
};

}  // namespace

Kind chain_kind() {
  return {"chains",
          "fused pairs of GEMMs in RTL",
          {"M", "N", "K", "L", "mM", "mK1", "mK2", "rtl_cycles"},
          [](const Options& options) { return std::make_unique<ChainSet>(options); },
          "Calibrated: latency of main memory. Sums between slices of the depth stay "
          "with the array, as the artefact's counts of words have it; those of the result between tiles pass through "
          "the buffer in 32 bits, in RTL in 16. Trust it least where row blocks are large and tiles small",
          {"M", "N", "K", "L", "mM"}};
}

}  // namespace attnvp::validate
