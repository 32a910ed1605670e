// Random machines and layers for property tests. Uses integers only, so cases are equal on all hosts.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "platform/machine/hardware.h"
#include "platform/workload/workload.h"

namespace attnvp::runs {

// Attention dataflows that support masks and skip padding, with their relevant options.
inline const std::vector<std::string> kUnderRules = {"layerwise",
                                                     "layerwise:spills=fusemax",
                                                     "softpipe",
                                                     "flat",
                                                     "flat:overlap=on",
                                                     "tileflow",
                                                     "mas",
                                                     "mas:overwrite=on",
                                                     "fusemax",
                                                     "cascade",
                                                     "cascade:binding=serial",
                                                     "fusemax:binding=serial",
                                                     "lean",
                                                     "flash-decoding",
                                                     "flash2",
                                                     "weave",
                                                     "weave"};

class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  std::uint32_t from(std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(engine_() % (high - low + 1));
  }
  bool one_in(std::uint32_t n) { return engine_() % n == 0; }
  std::uint32_t of(std::initializer_list<std::uint32_t> values) {
    return *(values.begin() + from(0, static_cast<std::uint32_t>(values.size()) - 1));
  }

 private:
  std::mt19937 engine_;
};

inline MachineConfig random_machine(Random& r) {
  MachineConfig m;
  m.name = "random";
  m.clock_hz = 1e6 * r.of({1000, 3750, 1410});
  m.clusters = r.one_in(2) ? 1 : r.from(1, 3);
  m.cores = r.from(1, 4);
  m.mac.rows = r.of({16, 16, 8, 4, 5, 32});
  m.mac.columns = r.of({16, 16, 8, 4, 7, 32});
  m.mac.pipeline_cycles = r.from(0, 40);
  m.mac.queue_depth = r.of({2, 4, 16});
  m.vec.lanes = r.of({256, 64, 10, 1000});
  m.vec.softmax_lane_cycles = r.of({32, 8, 1});
  m.vec.pipeline_cycles = r.from(0, 20);
  m.vec.queue_depth = r.of({2, 16});
  m.l1.size_bytes = 1024 * std::uint64_t{r.of({8, 32, 64, 128, 256, 512})};
  m.l0.size_bytes = std::min<std::uint64_t>(r.of({64 << 10, 64 << 10, 16 << 10, 4096, 1024, 256}), m.l1.size_bytes / 2);
  m.l1.banks = r.of({16, 4, 1});
  m.l1.bank_bytes_per_cycle = r.of({32, 16, 8});
  m.l1.ports = r.from(1, 2 * m.cores + 1);
  m.l1.port_bytes_per_cycle = r.of({64, 32, 7});
  m.dma.channels = r.from(3, 6);
  m.dma.burst_bytes = r.of({1024, 256, 64, 16});
  m.dma.outstanding = r.of({1, 2, 4, 16});
  m.dma.queue_depth = r.of({2, 4, 16});
  m.dma.arbitration = static_cast<DmaArbitration>(r.from(0, 2));
  m.dram.size_bytes = 16 << 20;
  m.dram.bytes_per_second = 1e9 * r.of({30, 8, 120, 3});
  m.dram.latency_seconds = 1e-9 * r.of({20, 0, 100});
  m.control.access_cycles = r.of({1, 1, 4});
  m.control.bus_bytes = r.of({8, 4, 64});
  return m;
}

inline workload::Attention random_network(Random& r) {
  workload::Attention n;
  n.name = "random";
  n.batch = r.one_in(3) ? r.from(1, 3) : 1;
  n.heads = r.from(1, 5);
  n.seq_q = r.one_in(6) ? 1 : r.one_in(2) ? 16 * r.from(1, 6) : r.from(1, 90);
  n.seq_kv = r.one_in(2) ? n.seq_q : r.one_in(6) ? 1 : r.from(1, 120);
  n.emb = r.one_in(8) ? r.from(1, 3) : r.one_in(2) ? 16 * r.from(1, 4) : r.from(1, 70);
  return n;
}

// Adds a mask, groups of heads and a scale.
inline void random_rules(Random& r, workload::Attention& n) {
  if (r.one_in(2)) {
    n.kv_heads = r.from(1, 2);
    n.heads = n.kv_heads * r.from(1, 4);
  }
  if (r.one_in(3)) n.scale = r.one_in(2) ? 0.125F : 0.3F;
  if (r.one_in(6)) return;
  hal::Mask& m = n.mask;
  if (n.seq_q > n.seq_kv) std::swap(n.seq_q, n.seq_kv);
  const std::uint32_t most = n.seq_kv - n.seq_q;
  m.queries = n.seq_q;
  m.history = r.one_in(4) ? r.from(0, most) : most;
  m.causal = r.one_in(4) ? 0 : 1;
  if (m.causal == 0 || r.one_in(2)) m.window = r.from(1, n.seq_kv);
  if (r.one_in(3)) m.sinks = r.from(0, std::min(n.seq_kv, 20U));
  if (r.one_in(5)) m.prefix = r.from(0, n.seq_kv);
}

// Adds a bias tensor of any allowed shape.
inline void random_bias(Random& r, workload::Attention& n) {
  workload::BiasTensor bias;
  const std::uint32_t all[4] = {n.batch, n.heads, n.seq_q, n.seq_kv};
  std::size_t count = 1;
  for (int d = 0; d < 4; ++d) {
    if (!r.one_in(3)) bias.extent[d] = all[d];
    count *= bias.extent[d];
  }
  for (std::size_t i = 0; i < count; ++i) {
    bias.numbers.push_back(arith::half_from_double((static_cast<double>(r.from(0, 256)) - 128) / 32));
  }
  n.bias = workload::Bias::kTensor;
  n.bias_tensor = std::make_shared<const workload::BiasTensor>(std::move(bias));
}

// Adds a block mask, padding, a bias, block scales and appended tokens, for layers without requests and with known
// rules and types.
inline void random_places(Random& r, workload::Attention& n) {
  if (!n.requests.empty()) {
    n.append = r.one_in(2);
    return;
  }
  hal::Mask& m = n.mask;
  if (n.seq_q > n.seq_kv) return;
  if (!m.any()) m.history = n.seq_kv - n.seq_q;
  m.queries = n.seq_q;
  n.append = r.one_in(3);
  const std::uint32_t group = n.heads / n.heads_of_kv();
  if (r.one_in(4)) {
    m.block = static_cast<std::uint16_t>(r.of({8, 16, 32}));
    const std::uint32_t stride = hal::map_stride(m, n.seq_kv), density = r.from(1, 3);
    n.map.assign(hal::map_rows(m) * stride, 0);
    for (std::uint32_t i = 0; i < hal::map_rows(m); ++i) {
      for (std::uint32_t j = 0; j < hal::map_columns(m, n.seq_kv); ++j) {
        if (r.one_in(density)) n.map[i * stride + j / 32] |= 1U << j % 32;
      }
    }
    for (std::uint32_t t = 0; t < m.queries; ++t) {  // every query needs a key
      if (n.visible_keys(0, t) > 0) continue;
      for (std::uint32_t j = 0; j < stride; ++j) n.map[t / m.block * stride + j] = 0xFFFF'FFFF;
    }
  } else if (r.one_in(4)) {
    n.bias = group == 1 && r.one_in(2) ? workload::Bias::kRelative : workload::Bias::kAlibi;
  } else if (n.type == hal::ElementType::kInt8 && r.one_in(2)) {
    n.scale_block = r.of({16, 32, 64});
  }
  const bool padded = r.one_in(5);
  if (n.bias == workload::Bias::kNone && n.softmax && r.one_in(4)) random_bias(r, n);
  if (!padded) return;
  m.bits |= hal::bit_of(hal::MaskKind::kPadded);
  for (std::uint32_t b = 0; b < n.batch; ++b) n.valid.push_back(r.from(1, n.seq_kv));
  for (std::uint32_t b = 0; b < n.batch; ++b) {
    for (std::uint32_t t = 0; t < m.queries; ++t) {
      if (n.visible_keys(b, t) == 0) n.valid[b] = n.seq_kv;
    }
  }
}

}  // namespace attnvp::runs
