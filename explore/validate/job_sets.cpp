// Sets whose rows are jobs of this platform.
#include <fmt/format.h>

#include <algorithm>

#include "explore/tuning/tuned_runner.h"
#include "explore/validate/data_set.h"
#include "models/cached_dram/cached_dram.h"
#include "platform/config/catalog.h"
#include "platform/config/hardware.h"

namespace attnvp::validate {

JobSet::JobSet(const Options& options, const char* machine)
    : machine_(config::load_hardware(options.hardware.empty() ? machine : options.hardware, options.settings)),
      energy_(config::load_energy(machine_.energy)) {}

config::Network JobSet::layer_of(const Row& row, const std::string& text) {
  try {
    return config::load_network(text);
  } catch (const config::ConfigError& problem) {
    config::fail(row.origin(), problem.what());
  }
}

job::Result JobSet::run(const MachineConfig& machine, const config::Network& layer, const std::string& dataflow,
                        const Tiling& tiling) const {
  job::Schedule schedule = job::parse_dataflow(dataflow);
  for (const auto& [name, value] : tiling) schedule.tiling.set(name, value);
  return explore::TunedRunner(machine, energy_, false).run(layer, schedule);
}

std::string JobSet::note(const job::Result& r) {
  const job::Utilization& u = r.utilization;
  return fmt::format("MAC {:.0f} %, VEC {:.0f} %, DRAM {:.0f} % busy", 100 * u.mac, 100 * u.vec, 100 * u.dram);
}

namespace {

// As the public kernels do where the cache has pages: thread blocks of 64 queries of one head against tiles of 128
// keys; a token of each request against its cache, the heads of a group side by side, in as many pieces as fill the
// machine.
constexpr std::uint32_t kRows = 64, kKeys = 128;

class AttentionSet : public JobSet {
 public:
  explicit AttentionSet(const Options& options)
      : JobSet(options, "rtx4090"),
        warm_(warmed(machine_)),
        model_(options.network.empty() ? "llama3.1-8b" : options.network) {
    config::load_network(model_);  // a mistake is told before the first row
  }

  std::vector<Point> predict(const Row& row) override {
    const std::uint64_t chunk = row.whole("prefill_chunk"), before = row.whole("kv_prefill");
    const std::uint64_t requests = row.whole("n_decode"), cached = row.whole("kv_decode");
    if ((chunk == 0) == (requests == 0)) {
      config::fail(row.origin(), "a row is prefill (prefill_chunk above 0) or decode (n_decode above 0)");
    }
    const bool prefill = chunk > 0;
    const config::Network layer =
        layer_of(row, prefill ? fmt::format("{},phase=prefill,N={},cache={},append=off", model_, chunk, before)
                              : fmt::format("{},phase=decode,batch={},cache={},append=off", model_, requests, cached));
    // Decode packs the queries of a group, and with several requests two further kernels bring them into that order and
    // back; one writes the cache in any case.
    const std::uint32_t rows = layer.folded().seq_q;
    const bool warm = requests <= 1 && 2 * 2 * layer.key_elements() <= cache_bytes();
    const job::Result result =
        run(warm ? warm_ : machine_, layer,
            fmt::format("{}:grid=blocks,kernels={}", prefill ? "flash2" : "flash-decoding", requests > 1 ? 3 : 1),
            {{"nq", std::min(kRows, rows)},
             {"nkv", std::min(kKeys, layer.seq_kv)},
             {"m0", kRows},
             {"n0", kKeys},
             {"k0", 64},
             {"kv", 1},
             {"rb", 1}});
    const double micro = 1e6;
    return {{"", row.positive("time_us"), result.seconds() * micro, "us", note(result)}};
  }

 private:
  // Timed repeatedly: what has room in the cache is found there, where there is one request. Several requests of equal
  // bytes are read from DRAM, as measurements have it.
  static MachineConfig warmed(MachineConfig machine) {
    machine.own<CacheConfig>().warm = true;
    return machine;
  }
  std::uint64_t cache_bytes() const {
    return machine_.dram.policy == "cached" ? machine_.own<CacheConfig>().size_bytes : 0;
  }

  MachineConfig warm_;
  std::string model_;
};

}  // namespace

Kind attention_kind() {
  return {"attention",
          "attention kernels of a serving system",
          {"prefill_chunk", "kv_prefill", "n_decode", "kv_decode", "time_us"},
          [](const Options& options) { return std::make_unique<AttentionSet>(options); },
          "Calibrated on the RTX 4090: launch of a kernel, launch of a thread block, share of the DRAM's peak. Rows of "
          "one request are predicted with K and V in the L2, those of several without it, as the measurements have it "
          "and for no reason that is known. Not modelled: pages of the cache, clocks that change with load, caches of "
          "translations. Trust it least where 32 to 64 requests have a few hundred tokens each"};
}

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
          "Calibrated: latency of main memory. Sums between slices of the depth stay with the array, as the artefact's "
          "counts of words have it; those of the result between tiles pass through the buffer in 32 bits, in RTL in "
          "16. Trust it least where row blocks are large and tiles small",
          {"M", "N", "K", "L", "mM"}};
}

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
          "reach 62% of the array's rate, which is a machine of its own. Not modelled: the warps within a thread "
          "block, clocks that change with load"};
}

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
          "library's kernels. Trust it least for softmax of short rows"};
}

}  // namespace attnvp::validate
