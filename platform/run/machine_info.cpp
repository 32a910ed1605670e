// The machine as seen by firmware (hal::MachineInfo).
#include <algorithm>
#include <cmath>

#include "models/engine/mac_engine/mac_plan.h"
#include "models/interconnect/config.h"
#include "platform/run/schedule.h"

namespace attnvp::job {

namespace {

// DRAM bandwidth, and the share that a cluster's DMA controller can use.
void add_dram_rate(hal::MachineInfo& info, const MachineConfig& m) {
  if (m.dram.policy == "cached" || m.own<NetworkConfig>().multicast) return;
  const double all = m.dram.bytes_per_second / m.clock_hz, port = m.l1.port_bytes_per_cycle;
  const double burst = m.dram.latency_seconds * m.clock_hz + m.dma.burst_bytes / std::min(all, port);  // cycles
  const double own = std::min({all, port, m.dma.outstanding * m.dma.burst_bytes / burst});
  info.dram_rate = static_cast<std::uint16_t>(std::clamp(16 * all, 1.0, 65535.0));
  info.dram_sharers = static_cast<std::uint8_t>(std::clamp(std::round(16 * all / own), 16.0, 255.0));
}

// Cycles of core `k` for a score: the greater of MAC array and VEC engine, which overlap.
double score_cycles(const CoreConfig& core, const workload::Workload& w) {
  double depth = w.extents().emb;
  if (w.is_attention()) depth += w.attention().values();
  const auto rate = static_cast<double>(mac_rate(core.mac, w.type()));
  const double array = depth / (1.0 * core.mac.rows * core.mac.columns * rate);
  return w.has_softmax() ? std::max(array, 1.0 * core.vec.softmax_lane_cycles / core.vec.lanes) : array;
}

// Fastest core (ties: the first), with the minimum of each resource over all cores.
CoreConfig core_for_firmware(const MachineConfig& m, const workload::Workload& n) {
  CoreConfig fastest = m.core(0);
  std::uint32_t resident_tiles = fastest.mac.resident_tiles;
  std::uint64_t l0_bytes = fastest.l0.size_bytes;
  for (std::uint32_t k = 1; k < m.cores && !m.core_overrides.empty(); ++k) {
    const CoreConfig core = m.core(k);
    if (score_cycles(core, n) < score_cycles(fastest, n)) fastest = core;
    resident_tiles = std::min(resident_tiles, core.mac.resident_tiles);
    l0_bytes = std::min(l0_bytes, core.l0.size_bytes);
  }
  fastest.mac.resident_tiles = resident_tiles;
  fastest.l0.size_bytes = l0_bytes;
  return fastest;
}

}  // namespace

std::optional<hal::Cores> heterogeneous_cores(const MachineConfig& m, const workload::Workload& n, double dram_cycles) {
  if (m.has_equal_cores()) return {};
  const double share_cycles = dram_cycles * m.clusters * m.cores;
  constexpr double kFastest = 4096;  // greatest weight
  double least = score_cycles(m.core(0), n);
  for (std::uint32_t k = 1; k < m.cores; ++k) least = std::min(least, score_cycles(m.core(k), n));
  hal::Cores cores{};
  cores.least_rows = cores.least_columns = UINT32_MAX;
  bool heterogeneous = false;
  for (std::uint32_t k = 0; k < m.cores; ++k) {
    const MacConfig mac = m.core(k).mac;
    const double cycles = score_cycles(m.core(k), n);
    const double weight = std::round(kFastest * std::max(share_cycles, least) / std::max(share_cycles, cycles));
    const double slower = cycles > least && weight == kFastest ? 1 : 0;  // ordered last among equals
    cores.weight[k] = static_cast<std::uint16_t>(std::max(1.0, weight - slower));
    cores.rows[k] = static_cast<std::uint16_t>(mac.rows);
    cores.least_rows = std::min(cores.least_rows, mac.rows);
    cores.most_rows = std::max(cores.most_rows, mac.rows);
    cores.least_columns = std::min(cores.least_columns, mac.columns);
    heterogeneous = heterogeneous || cores.weight[k] != cores.weight[0] || mac.rows != m.core(0).mac.rows ||
                    mac.columns != m.core(0).mac.columns;
  }
  if (!heterogeneous) return {};
  return cores;
}

hal::MachineInfo machine_info(const MachineConfig& m, const workload::Workload& n) {
  const CoreConfig core = core_for_firmware(m, n);
  hal::MachineInfo info{};
  info.clusters = m.clusters;
  info.cores = m.cores;
  info.mac_rows = core.mac.rows;
  info.mac_columns = core.mac.columns;
  info.dma_channels = static_cast<std::uint16_t>(m.dma.channels);
  info.dma_queue_depth = static_cast<std::uint16_t>(m.dma.queue_depth);
  info.events = m.events.events;
  info.resident_tiles = static_cast<std::uint16_t>(core.mac.resident_tiles);
  info.softmax_rate = static_cast<std::uint16_t>(
      std::clamp<std::uint64_t>(std::uint64_t{core.vec.lanes} * 16 / core.vec.softmax_lane_cycles, 1, 0xFFFF));
  add_dram_rate(info, m);
  info.l1_bytes = m.l1.size_bytes;
  info.l0_bytes = core.l0.size_bytes;
  return info;
}

}  // namespace attnvp::job
