#include "explore/validate/flash_set.h"

#include <fmt/format.h>

#include <algorithm>

#include "explore/validate/job_set.h"
#include "platform/config/catalog.h"
#include "platform/config/hardware.h"

namespace attnvp::validate {

namespace {

// The benchmark of the kernels' own repository: hidden size 2048, 16,384 tokens in all.
constexpr std::uint64_t kHidden = 2048, kTokens = 16384;
constexpr std::uint32_t kBlockRows = 128, kBlockKeys = 128;  // of a thread block's tile

class FlashSet : public JobSet {
 public:
  explicit FlashSet(const Options& options) : JobSet(options, "h100"), synchronous_(machine_) {
    // What kernels reach whose matrix instructions are those of earlier GPUs is a machine of its own, NAME-mma.
    const std::string base = options.hardware.empty() ? "h100" : options.hardware;
    for (const config::CatalogEntry& entry : config::list(config::Folder::kHardware)) {
      if (entry.name == base + "-mma") synchronous_ = config::load_hardware(entry.name, options.settings);
    }
  }

  std::vector<Point> predict(const Row& row) override {
    const std::string& kernel = row.text("kernel");
    const bool third = kernel == "fa3";
    if (!third && kernel != "fa2") {
      config::fail(row.origin(), fmt::format("column 'kernel': found '{}'; allowed: fa2, fa3", kernel));
    }
    const std::uint64_t emb = row.whole("head_dim"), length = row.whole("seq_len");
    const bool causal = row.flag("causal");
    if (emb == 0 || emb > kHidden) {
      config::fail(row.origin(), fmt::format("column 'head_dim': found {}; allowed is 1 to {}", emb, kHidden));
    }
    if (length == 0) config::fail(row.origin(), "column 'seq_len': found 0; allowed is 1 or more");
    const std::uint64_t heads = kHidden / emb, batch = std::max<std::uint64_t>(kTokens / length, 1);
    const config::Network layer =
        layer_of(row, fmt::format("B={},H={},N={},E={},causal={}", batch, heads, length, emb, causal ? 1 : 0));
    const std::uint32_t rows = std::min(kBlockRows, layer.seq_q), keys = std::min(kBlockKeys, layer.seq_kv);
    const job::Result r =
        run(third ? machine_ : synchronous_, layer, third ? "flash3:grid=blocks" : "flash2:grid=blocks",
            {{"nq", rows},
             {"nkv", keys},
             {"m0", kBlockRows},
             {"n0", kBlockKeys},
             {"k0", 32},
             {"kv", third ? 2 : 1},
             {"rb", 1}});
    const double flop = 4.0 * static_cast<double>(length) * static_cast<double>(length) *
                        static_cast<double>(emb * heads * batch) / (causal ? 2 : 1);
    return {{"", row.positive("tflops"), flop / r.seconds() * 1e-12, "TFLOP/s", note(r)}};
  }

 private:
  MachineConfig synchronous_;
};

}  // namespace

Kind flash_kind() {
  return {"flash",
          "FlashAttention-2 and -3 forward on a GPU",
          {"kernel", "head_dim", "causal", "seq_len", "tflops"},
          [](const Options& options) { return std::make_unique<FlashSet>(options); },
          "Calibrated: the clock under full load and launch of a thread block. FlashAttention-2's matrix instructions "
          "reach 62% of the "
          "array's rate, which is a machine of its own. Not modelled: the warps within a thread block, clocks that "
          "change with load"};
}

}  // namespace attnvp::validate
