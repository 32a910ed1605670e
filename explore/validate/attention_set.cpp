#include "explore/validate/attention_set.h"

#include <fmt/format.h>

#include <algorithm>

#include "platform/config/energy.h"
#include "platform/config/hardware.h"
#include "platform/config/network.h"
#include "platform/job/job.h"

namespace attnvp::validate {

namespace {

// As the public kernels do: row blocks of 64 queries of one head against tiles of 64 keys; a token of each request
// against its cache, the heads of a group side by side, in as many pieces as fill the machine.
constexpr std::uint32_t kRows = 64, kKeys = 64;

class AttentionSet : public DataSet {
 public:
  explicit AttentionSet(const Options& options)
      : machine_(config::load_hardware(options.hardware.empty() ? "rtx4090" : options.hardware, options.settings)),
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
      layer = config::load_network(
          prefill ? fmt::format("{},phase=prefill,N={},cache={}", model_, chunk, before)
                  : fmt::format("{},phase=decode,batch={},cache={}", model_, requests, cached));
    } catch (const config::ConfigError& problem) {
      config::fail(row.origin(), problem.what());
    }
    job::Schedule schedule = job::parse_dataflow(prefill ? "flash2" : "flash-decoding");
    const std::uint32_t rows = layer.folded().seq_q;
    schedule.tiling.set("nq", rows <= 2 * kRows && !prefill ? rows : std::min(kRows, rows));
    schedule.tiling.set("nkv", std::min(kKeys, layer.seq_kv));
    schedule.tiling.set("kv", prefill ? 1 : 2);
    schedule.tiling.set("m0", std::min(machine_.mac.rows, kRows));
    schedule.tiling.set("n0", kKeys);
    schedule.tiling.set("k0", 64);
    schedule.tiling.set("rb", 1);
    job::Runner runner(machine_, energy_, false);
    job::Result result = runner.run(layer, schedule, nullptr, {});
    // Timed repeatedly: the next one finds in the cache what has room there.
    if (2 * 2 * layer.key_elements() <= 2 * cache_bytes()) result = runner.run(layer, schedule, nullptr, {});
    const double micro = 1e6;
    return {{"", row.positive("time_us"), result.seconds() * micro, "us", note(result)}};
  }

 private:
  std::uint64_t cache_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& key : config::hardware_schema().keys()) {
      if (key.path == "dram.l2_size" && machine_.dram.policy == "cached") {
        bytes = std::get<std::uint64_t>(key.get(machine_));
      }
    }
    return bytes;
  }
  static std::string note(const job::Result& r) {
    const job::Utilization& u = r.utilization;
    return fmt::format("MAC {:.0f} %, VEC {:.0f} %, DRAM {:.0f} % busy", 100 * u.mac, 100 * u.vec, 100 * u.dram);
  }

  MachineConfig machine_;
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
