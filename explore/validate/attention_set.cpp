#include "explore/validate/attention_set.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/cached_dram/cached_dram.h"
#include "platform/config/energy.h"
#include "platform/config/hardware.h"
#include "platform/config/network.h"
#include "platform/job/job.h"

namespace attnvp::validate {

namespace {

// As the public kernels do where the cache has pages: thread blocks of 64 queries of one head against tiles of 128
// keys; a token of each request against its cache, the heads of a group side by side, in as many pieces as fill the
// machine.
constexpr std::uint32_t kRows = 64, kKeys = 128;

class AttentionSet : public DataSet {
 public:
  explicit AttentionSet(const Options& options)
      : machine_(config::load_hardware(options.hardware.empty() ? "rtx4090" : options.hardware, options.settings)),
        warm_(warmed(machine_)),
        energy_(config::load_energy(machine_.energy)),
        model_(options.network.empty() ? "llama3.1-8b" : options.network) {
    config::load_network(model_);  // a mistake is told before the first row
  }

  std::string hardware() const override { return machine_.name; }

  std::vector<Point> predict(const Row& row) override {
    const std::uint64_t chunk = row.whole("prefill_chunk"), before = row.whole("kv_prefill");
    const std::uint64_t requests = row.whole("n_decode"), cached = row.whole("kv_decode");
    if ((chunk == 0) == (requests == 0)) {
      config::fail(row.origin(), "a row is prefill (prefill_chunk above 0) or decode (n_decode above 0)");
    }
    const bool prefill = chunk > 0;
    config::Network layer;
    try {
      layer =
          config::load_network(prefill ? fmt::format("{},phase=prefill,N={},cache={}", model_, chunk, before)
                                       : fmt::format("{},phase=decode,batch={},cache={}", model_, requests, cached));
    } catch (const config::ConfigError& problem) {
      config::fail(row.origin(), problem.what());
    }
    // Decode packs the queries of a group, and with several requests two further kernels bring them into that order and
    // back; one writes the cache in any case.
    const std::uint32_t rows = layer.folded().seq_q;
    job::Schedule schedule = job::parse_dataflow(
        fmt::format("{}:grid=blocks,kernels={}", prefill ? "flash2" : "flash-decoding", requests > 1 ? 3 : 1));
    schedule.tiling.set("nq", std::min(kRows, rows));
    schedule.tiling.set("nkv", std::min(kKeys, layer.seq_kv));
    schedule.tiling.set("kv", 1);
    schedule.tiling.set("m0", kRows);
    schedule.tiling.set("n0", kKeys);
    schedule.tiling.set("k0", 64);
    schedule.tiling.set("rb", 1);
    const bool warm = requests <= 1 && 2 * 2 * layer.key_elements() <= cache_bytes();
    job::Runner runner(warm ? warm_ : machine_, energy_, false);
    const job::Result result = runner.run(layer, schedule, nullptr, {});
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
  static std::string note(const job::Result& r) {
    const job::Utilization& u = r.utilization;
    return fmt::format("MAC {:.0f} %, VEC {:.0f} %, DRAM {:.0f} % busy", 100 * u.mac, 100 * u.vec, 100 * u.dram);
  }

  MachineConfig machine_, warm_;
  config::EnergyTable energy_;
  std::string model_;
};

}  // namespace

Kind attention_kind() {
  return {"attention",
          "attention kernels of a serving system",
          {"prefill_chunk", "kv_prefill", "n_decode", "kv_decode", "time_us"},
          [](const Options& options) { return std::make_unique<AttentionSet>(options); }};
}

}  // namespace attnvp::validate
