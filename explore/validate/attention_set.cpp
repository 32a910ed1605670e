#include "explore/validate/attention_set.h"

#include <fmt/format.h>

#include <algorithm>

#include "explore/validate/job_set.h"
#include "models/cached_dram/cached_dram.h"

namespace attnvp::validate {

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
          "one request "
          "are predicted with K and V in the L2, those of several without it, as the measurements have it and for no "
          "reason "
          "that is known. Not modelled: pages of the cache, clocks that change with load, caches of translations. "
          "Trust it least "
          "where 32 to 64 requests have a few hundred tokens each"};
}

}  // namespace attnvp::validate
