#include "explore/validate/step_set.h"

#include <fmt/format.h>

#include <algorithm>

#include "explore/validate/job_set.h"

namespace attnvp::validate {

namespace {

// Thread blocks of 128 x 128 results, 64 of the depth at a time; softmax by rows.
constexpr std::uint32_t kTile = 128, kDepth = 64;

class StepSet : public JobSet {
 public:
  explicit StepSet(const Options& options) : JobSet(options, "a100-80gb") {}

  std::vector<Point> predict(const Row& row) override {
    const std::string& op = row.text("op");
    if (op != "gemm" && op != "softmax") {
      config::fail(row.origin(), fmt::format("column 'op': found '{}'; allowed: gemm, softmax", op));
    }
    const std::uint64_t m = row.whole("m"), n = row.whole("n");
    return op == "gemm" ? gemm(row, m, n, row.whole("k")) : softmax(row, m, n);
  }

 private:
  std::vector<Point> gemm(const Row& row, std::uint64_t m, std::uint64_t n, std::uint64_t k) {
    const config::Network layer = layer_of(row, fmt::format("gemm:{}x{}x{}", m, n, k));
    const std::uint32_t nq = std::min(kTile, layer.seq_q), nkv = std::min(kTile, layer.seq_kv);
    // Measured through a library: its call costs a second launch. What threads of a block load together makes whole
    // sectors, which panels stand for.
    const job::Result r = run(machine_, layer, "gemm-panels:kernels=1",
                              {{"nq", nq},
                               {"nkv", nkv},
                               {"kd", std::min(4 * kDepth, layer.emb)},
                               {"m0", kTile},
                               {"n0", kTile},
                               {"k0", kDepth},
                               {"kv", 2}});
    return {{"", row.positive("ms"), r.seconds() * 1e3, "ms", note(r)}};
  }

  std::vector<Point> softmax(const Row& row, std::uint64_t m, std::uint64_t n) {
    const config::Network layer = layer_of(row, fmt::format("softmax:{}x{}", m, n));
    // As many rows as make some ten thousand elements, but eight blocks for every worker.
    const auto rows = static_cast<std::uint32_t>(
        std::max<std::uint64_t>(1, std::min<std::uint64_t>(8192 / n, m / (8 * std::uint64_t{machine_.clusters}))));
    const job::Result r =
        run(machine_, layer, "softmax-rows",
            {{"nq", rows}, {"nkv", layer.seq_kv}, {"kd", 1}, {"m0", 1}, {"n0", 1}, {"k0", 1}, {"kv", 2}});
    const double elements = static_cast<double>(m) * static_cast<double>(n);
    return {{"", row.positive("gelem_per_s"), elements / r.seconds() * 1e-9, "G elements/s", note(r)}};
  }
};

}  // namespace

Kind step_kind() {
  return {"gemm-softmax",
          "GEMM and softmax by themselves on a GPU",
          {"op", "m", "n", "k", "ms", "gelem_per_s"},
          [](const Options& options) { return std::make_unique<StepSet>(options); },
          "Calibrated: launch of a kernel, lane-cycles of softmax. One tile shape for all GEMMs; no choice of a "
          "library's kernels. "
          "Trust it least for softmax of short rows"};
}

}  // namespace attnvp::validate
