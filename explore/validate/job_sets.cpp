// Data sets whose rows are jobs of this platform.
#include <fmt/format.h>

#include <algorithm>

#include "explore/layers/tuned_runner.h"
#include "explore/validate/data_set.h"
#include "models/memory/cached_dram/cached_dram.h"
#include "platform/machine/hardware.h"

namespace attnvp::validate {

JobSet::JobSet(const DataSetOptions& options, const char* machine)
    : machine_(config::load_hardware(options.hardware.empty() ? machine : options.hardware, options.settings)),
      energy_(config::load_energy(machine_.energy)) {}

workload::Workload JobSet::layer_of(const DataRow& row, const std::string& text) {
  try {
    workload::Workload layer = workload::load(text);
    workload::refuse_scope(layer);
    return layer;
  } catch (const config::ConfigError& problem) {
    config::fail(row.origin(), problem.what());
  }
}

job::RunResult JobSet::run(const MachineConfig& machine, const workload::Workload& layer, const std::string& dataflow,
                           const TileValues& tiling) const {
  job::Schedule schedule = job::parse_dataflow(dataflow);
  for (const auto& [name, value] : tiling) schedule.tiling.set(name, value);
  return explore::TunedRunner(machine, energy_, false).run(layer, schedule);
}

std::string JobSet::note(const job::RunResult& r) {
  const job::Utilization& u = r.utilization;
  return fmt::format("MAC {:.0f} %, VEC {:.0f} %, DRAM {:.0f} % busy", 100 * u.mac, 100 * u.vec, 100 * u.dram);
}

namespace {

// Paged-cache kernels: prefill uses thread blocks of 64 queries of one head and tiles of 128 keys. Decode processes one
// token per request with grouped heads together, in enough pieces to fill the machine.
constexpr std::uint32_t kRows = 64, kKeys = 128;

class AttentionSet : public JobSet {
 public:
  explicit AttentionSet(const DataSetOptions& options)
      : JobSet(options, "rtx4090"),
        warm_(warmed(machine_)),
        model_(options.network.empty() ? "llama3.1-8b" : options.network) {
    workload::load(model_);  // reports errors before the first row
  }

  std::vector<MeasuredPoint> predict(const DataRow& row) override {
    const std::uint64_t chunk = row.whole("prefill_chunk"), before = row.whole("kv_prefill");
    const std::uint64_t requests = row.whole("n_decode"), cached = row.whole("kv_decode");
    if ((chunk == 0) == (requests == 0)) {
      config::fail(row.origin(), "a row is prefill (prefill_chunk above 0) or decode (n_decode above 0)");
    }
    const bool prefill = chunk > 0;
    const workload::Workload layer =
        layer_of(row, prefill ? fmt::format("{},phase=prefill,N={},cache={},append=off", model_, chunk, before)
                              : fmt::format("{},phase=decode,batch={},cache={},append=off", model_, requests, cached));
    // Decode packs the queries of a group. With several requests, two further kernels reorder them and back. One kernel
    // always writes the cache.
    const std::uint32_t rows = layer.attention().folded().seq_q;
    const bool warm = requests <= 1 && 2 * 2 * layer.attention().key_elements() <= cache_bytes();
    const job::RunResult result =
        run(warm ? warm_ : machine_, layer,
            fmt::format("{}:grid=blocks,kernels={}", prefill ? "flash2" : "flash-decoding", requests > 1 ? 3 : 1),
            {{"nq", std::min(kRows, rows)},
             {"nkv", std::min(kKeys, layer.extents().seq_kv)},
             {"m0", kRows},
             {"n0", kKeys},
             {"k0", 64},
             {"kv", 1},
             {"rb", 1}});
    const double micro = 1e6;
    return {{"", row.positive("time_us"), result.seconds() * micro, "us", note(result)}};
  }

 private:
  // Measurements are repeated: with a single request, data that fits into the cache is found there. Several requests
  // are read from DRAM, as the measurements show.
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

DataSetKind attention_kind() {
  return {"attention",
          "attention kernels of a serving system",
          {"prefill_chunk", "kv_prefill", "n_decode", "kv_decode", "time_us"},
          [](const DataSetOptions& options) { return std::make_unique<AttentionSet>(options); },
          "Calibrated on the RTX 4090: launch of a kernel, launch of a thread block, share of the DRAM's peak. Rows of "
          "one request are predicted with K and V in the L2, those of several without it, as the measurements have it "
          "and for no reason that is known. Not modelled: pages of the cache, clocks that change with load, caches of "
          "translations. Trust it least where 32 to 64 requests have a few hundred tokens each"};
}

namespace {

// C = A(M x K) B(K x L), D = C E(L x N): one head of M queries and L keys without softmax.
// B and E alternate: each is loaded during the multiplication with the other.
constexpr std::uint32_t kRing = 1;

class ChainSet : public JobSet {
 public:
  explicit ChainSet(const DataSetOptions& options) : JobSet(options, "tileflow-accelerator") {}

  std::vector<MeasuredPoint> predict(const DataRow& row) override {
    const std::uint64_t m = row.whole("M"), n = row.whole("N"), k = row.whole("K"), l = row.whole("L");
    if (n != k)
      config::fail(row.origin(), fmt::format("column 'N': found {}; allowed is that of column 'K', {}", n, k));
    const workload::Workload layer = layer_of(row, fmt::format("H=1,NQ={},NKV={},E={},softmax=none", m, l, k));
    const auto least = [&](const char* column, std::uint64_t extent) {
      const std::uint64_t tile = row.whole(column);
      if (tile == 0) config::fail(row.origin(), fmt::format("column '{}': found 0; allowed is 1 or more", column));
      return static_cast<std::uint32_t>(std::min(tile, extent));
    };
    const std::uint32_t nq = least("mM", m), kd = least("mK1", k), nkv = least("mK2", l);
    const job::RunResult r = run(machine_, layer, "chain",
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

DataSetKind chain_kind() {
  return {"chains",
          "fused pairs of GEMMs in RTL",
          {"M", "N", "K", "L", "mM", "mK1", "mK2", "rtl_cycles"},
          [](const DataSetOptions& options) { return std::make_unique<ChainSet>(options); },
          "Calibrated: latency of main memory. Sums between slices of the depth stay with the array, as the artefact's "
          "counts of words have it; those of the result between tiles pass through the buffer in 32 bits, in RTL in "
          "16. Trust it least where row blocks are large and tiles small",
          {"M", "N", "K", "L", "mM"}};
}

namespace {

// Benchmark settings of the kernels' repository: hidden size 2048, 16,384 tokens in all.
constexpr std::uint64_t kHidden = 2048, kTokens = 16384;
class FlashSet : public KernelRows {
 public:
  explicit FlashSet(const DataSetOptions& options) : KernelRows(options, "h100") {}

  std::vector<MeasuredPoint> predict(const DataRow& row) override {
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
    KernelChoice choice;  // of a machine whose table does not name the kernel
    choice.dataflow = third ? "flash3:grid=blocks" : "flash2:grid=blocks";
    choice.tiling = fmt::format("nq=128,nkv=128,m0=128,n0=128,k0=32,kv={},rb=1", third ? 2 : 1);
    const Prediction p =
        run(row, fmt::format("B={},H={},N={},E={},causal={}", batch, heads, length, emb, causal ? 1 : 0), choice);
    const double flop = 4.0 * static_cast<double>(length) * static_cast<double>(length) *
                        static_cast<double>(emb * heads * batch) / (causal ? 2 : 1);
    return {{"", row.positive("tflops"), flop / p.result.seconds() * 1e-12, "TFLOP/s", p.note}};
  }
};

}  // namespace

DataSetKind flash_kind() {
  return {"flash",
          "FlashAttention-2 and -3 forward on a GPU",
          {"kernel", "head_dim", "causal", "seq_len", "tflops"},
          [](const DataSetOptions& options) { return std::make_unique<FlashSet>(options); },
          "Tile sizes are those of the public kernels by head size, and FlashAttention-2's matrix instructions reach "
          "part of the array's rate, as the table beside the machine has it. Not modelled: the warps within a thread "
          "block, clocks that change with load"};
}

namespace {

// Thread blocks of 128 x 128 results with a depth of 64; softmax by rows.
constexpr std::uint32_t kTile = 128, kDepth = 64;

class StepSet : public JobSet {
 public:
  explicit StepSet(const DataSetOptions& options) : JobSet(options, "a100-80gb") {}

  std::vector<MeasuredPoint> predict(const DataRow& row) override {
    const std::string& op = row.text("op");
    if (op != "gemm" && op != "softmax") {
      config::fail(row.origin(), fmt::format("column 'op': found '{}'; allowed: gemm, softmax", op));
    }
    const std::uint64_t m = row.whole("m"), n = row.whole("n");
    return op == "gemm" ? gemm(row, m, n, row.whole("k")) : softmax(row, m, n);
  }

 private:
  std::vector<MeasuredPoint> gemm(const DataRow& row, std::uint64_t m, std::uint64_t n, std::uint64_t k) {
    const workload::Workload layer = layer_of(row, fmt::format("gemm:{}x{}x{}", m, n, k));
    const workload::Extents e = layer.extents();
    const std::uint32_t nq = std::min(kTile, e.seq_q), nkv = std::min(kTile, e.seq_kv);
    // The measured library call includes a second launch. Threads of a block load whole sectors, which panels model.
    const job::RunResult r = run(machine_, layer, "gemm-panels:kernels=1",
                                 {{"nq", nq},
                                  {"nkv", nkv},
                                  {"kd", std::min(4 * kDepth, e.emb)},
                                  {"m0", kTile},
                                  {"n0", kTile},
                                  {"k0", kDepth},
                                  {"kv", 2}});
    return {{"", row.positive("ms"), r.seconds() * 1e3, "ms", note(r)}};
  }

  std::vector<MeasuredPoint> softmax(const DataRow& row, std::uint64_t m, std::uint64_t n) {
    const workload::Workload layer = layer_of(row, fmt::format("softmax:{}x{}", m, n));
    // Rows of about ten thousand elements per block, and at least eight blocks per worker.
    const auto rows = static_cast<std::uint32_t>(
        std::max<std::uint64_t>(1, std::min<std::uint64_t>(8192 / n, m / (8 * std::uint64_t{machine_.clusters}))));
    const job::RunResult r =
        run(machine_, layer, "softmax-rows",
            {{"nq", rows}, {"nkv", layer.extents().seq_kv}, {"kd", 1}, {"m0", 1}, {"n0", 1}, {"k0", 1}, {"kv", 2}});
    const double elements = static_cast<double>(m) * static_cast<double>(n);
    return {{"", row.positive("gelem_per_s"), elements / r.seconds() * 1e-9, "G elements/s", note(r)}};
  }
};

}  // namespace

DataSetKind step_kind() {
  return {"gemm-softmax",
          "GEMM and softmax by themselves on a GPU",
          {"op", "m", "n", "k", "ms", "gelem_per_s"},
          [](const DataSetOptions& options) { return std::make_unique<StepSet>(options); },
          "Calibrated: launch of a kernel, lane-cycles of softmax. One tile shape for all GEMMs; no choice of a "
          "library's kernels. Trust it least for softmax of short rows"};
}

}  // namespace attnvp::validate
