// Parser of dataflow names with options, and the machine as seen by firmware.
#include "platform/run/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string_view>

#include "models/engine/mac_engine/mac_plan.h"
#include "models/interconnect/config.h"
#include "platform/machine/error.h"
#include "platform/machine/words.h"
#include "platform/schedule/programs.h"

namespace attnvp::job {

using config::Origin;
using config::Setting;

std::vector<Setting> split_settings(std::string_view list, const Origin& origin) {
  std::vector<Setting> settings;
  for (std::size_t start = 0; start <= list.size();) {
    const std::size_t comma = std::min(list.find(',', start), list.size());
    const std::string_view part = config::trimmed(list.substr(start, comma - start));
    start = comma + 1;
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      config::fail(origin, fmt::format("found {} where key=value is expected", config::in_quotes(part)));
    }
    Setting s{std::string(config::trimmed(part.substr(0, equals))),
              std::string(config::trimmed(part.substr(equals + 1))), origin};
    if (std::any_of(settings.begin(), settings.end(), [&](const Setting& other) { return other.path == s.path; })) {
      config::fail(origin, fmt::format("key '{}' is given twice", s.path));
    }
    settings.push_back(std::move(s));
  }
  return settings;
}

Schedule parse_dataflow(const std::string& text, const schedule::FirmwareImage& firmware) {
  const Origin origin = config::option_origin("--dataflow", text);
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const firmware::Dataflow* dataflow = firmware.find(name);
  if (dataflow == nullptr || name != dataflow->name) {
    std::vector<std::string> names;
    for (const firmware::Dataflow* d : firmware.dataflows()) names.emplace_back(d->name);
    throw config::ConfigError(fmt::format("dataflow {} is unknown{}", config::in_quotes(name),
                                          config::hint(name, names, "attnvp list dataflows")));
  }
  Schedule schedule;
  schedule.firmware = &firmware;
  schedule.tiling = Tiling(firmware);
  schedule.dataflow = name;
  schedule.text = text;
  std::vector<std::string> options;
  for (const firmware::DataflowOption* o = dataflow->options; o != nullptr && o->name != nullptr; ++o) {
    options.emplace_back(o->name);
  }
  schedule.options.assign(options.size(), 0);
  if (colon == std::string::npos) return schedule;
  for (const Setting& s : split_settings(std::string_view(text).substr(colon + 1), origin)) {
    const auto found = std::find(options.begin(), options.end(), s.path);
    if (found == options.end()) {
      config::fail(origin, options.empty() ? fmt::format("dataflow '{}' has no options", name)
                                           : fmt::format("option {} is unknown{}", config::in_quotes(s.path),
                                                         config::hint(s.path, options)));
    }
    const auto index = static_cast<std::size_t>(found - options.begin());
    std::vector<std::string> values;
    for (const char* const* v = dataflow->options[index].values; *v != nullptr; ++v) values.emplace_back(*v);
    const auto value = std::find(values.begin(), values.end(), s.text);
    if (value == values.end()) {
      config::fail(origin, fmt::format("option '{}': found {}; allowed are {}", s.path, config::in_quotes(s.text),
                                       fmt::join(values, ", ")));
    }
    schedule.options[index] = static_cast<std::uint32_t>(value - values.begin());
  }
  return schedule;
}

bool is_complete(const Schedule& schedule) {
  const std::vector<std::uint32_t> words = words_of(schedule.tiling, schedule.declaration());
  return std::find(words.begin(), words.end(), 0U) == words.end();
}

void check_complete(const Schedule& schedule) {
  const firmware::Dataflow& dataflow = schedule.declaration();
  const std::vector<std::uint32_t> words = words_of(schedule.tiling, dataflow);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] != 0) continue;
    throw TilingError(fmt::format("tiling: key '{}' of {} is missing; a run needs every parameter of its dataflow",
                                  dataflow.parameters[i]->name, dataflow.name));
  }
}

bool has(const Schedule& schedule, firmware::Trait trait) {
  const firmware::Dataflow& dataflow = schedule.declaration();
  return (schedule::traits_of(dataflow, words_of(schedule.tiling, dataflow)) & trait) != 0;
}

std::string refusal(const hal::JobResult& answer, const firmware::Dataflow& dataflow) {
  const auto need = [&](const char* memory, const char* key) {
    return fmt::format("{} is too small: the schedule needs at least {} bytes, {} is {} bytes", memory,
                       answer.detail[0], key, answer.detail[1]);
  };
  switch (answer.status) {
    case hal::Status::kDone:
      return "it is done";
    case hal::Status::kIdle:
      return "it ended without a status";
    case hal::Status::kBadJob:
      return "the job block makes no sense to it";
    case hal::Status::kUnknownDataflow:
      return "it has no dataflow of that name";
    case hal::Status::kL1TooSmall:
      return need("L1", "l1.size");
    case hal::Status::kL0TooSmall:
      return need("L0", "l0.size");
    case hal::Status::kTooFewEvents:
      return fmt::format("it needs {} events, events.count is {}", answer.detail[0], answer.detail[1]);
    case hal::Status::kTooFewChannels:
      return fmt::format("it needs {} DMA channels, dma.channels is {}", answer.detail[0], answer.detail[1]);
    case hal::Status::kDramTooSmall:
      return fmt::format("partial results need {} bytes of DRAM behind the tensors, where dram.size leaves {}",
                         answer.detail[0], answer.detail[1]);
    case hal::Status::kL2TooSmall:
      return fmt::format(
          "K and V that are staged need {} bytes of each cluster's part of the L2, where l2.size leaves {}",
          answer.detail[0], answer.detail[1]);
    case hal::Status::kTooManyEvents:
      return "a command names more events than a descriptor can hold";
    case hal::Status::kEngineFault:
      return fmt::format("its access to {:#x} was answered with an error", answer.detail[0]);
    case hal::Status::kBadTiling:
      break;
  }
  const firmware::Parameter& p = *dataflow.parameters[answer.detail[0]];
  const bool word = answer.detail[1] == hal::kWord && p.none != nullptr;
  const bool named = p.named != nullptr && answer.detail[1] >= 1 && answer.detail[1] <= p.most;
  return fmt::format("it cannot do with {}={} on this layer and machine, beside what else is given", p.name,
                     word    ? p.none
                     : named ? p.named[answer.detail[1] - 1].name
                             : std::to_string(answer.detail[1]));
}

// The machine as seen by firmware (hal::MachineInfo).

namespace {

// DRAM bandwidth that a cluster's DMA controller can use, in bytes per cycle.
double dma_rate(const MachineConfig& m) {
  const double all = m.dram.bytes_per_second / m.clock_hz, port = m.l1.port_bytes_per_cycle;
  const double burst = m.dram.latency_seconds * m.clock_hz + m.dma.burst_bytes / std::min(all, port);  // cycles
  return std::min({all, port, m.dma.outstanding * m.dma.burst_bytes / burst});
}

void add_dram_rate(hal::MachineInfo& info, const MachineConfig& m) {
  if (m.dram.policy == "cached" || m.own<NetworkConfig>().multicast) return;
  const double all = m.dram.bytes_per_second / m.clock_hz;
  const double own = m.has_equal_clusters() ? dma_rate(m) : m.sum_of_clusters(dma_rate) / m.clusters;
  info.dram_rate = static_cast<std::uint16_t>(std::clamp(16 * all, 1.0, 65535.0));
  info.dram_sharers = static_cast<std::uint8_t>(std::clamp(std::round(16 * all / own), 16.0, 255.0));
}

// Cycles of core `k` for a score: the greater of MAC array and VEC engine, which overlap.
double score_cycles(const CoreConfig& core, const workload::Workload& w) {
  double depth = w.extents().emb;
  if (w.is_attention()) depth += w.attention().values();
  const auto rate = static_cast<double>(mac_rate(core.mac, w.type()));
  const double array = depth / (static_cast<double>(core.mac.pes()) * rate);
  return w.has_softmax() ? std::max(array, 1.0 * core.vec.softmax_lane_cycles / core.vec.lanes) : array;
}

// Fastest core (ties: the first), with the minimum of each resource over all cores.
CoreConfig core_for_firmware(const std::vector<MachineConfig>& clusters, const workload::Workload& n) {
  CoreConfig fastest = clusters.front().core(0);
  std::uint32_t resident_tiles = fastest.mac.resident_tiles;
  std::uint64_t l0_bytes = fastest.l0.size_bytes;
  for (const MachineConfig& m : clusters) {
    if (clusters.size() == 1 && m.core_overrides.empty()) break;
    for (std::uint32_t k = 0; k < m.cores; ++k) {
      const CoreConfig core = m.core(k);
      if (score_cycles(core, n) < score_cycles(fastest, n)) fastest = core;
      resident_tiles = std::min(resident_tiles, core.mac.resident_tiles);
      l0_bytes = std::min(l0_bytes, core.l0.size_bytes);
    }
  }
  fastest.mac.resident_tiles = resident_tiles;
  fastest.l0.size_bytes = l0_bytes;
  return fastest;
}

// The machine with the values of each cluster, or once for all if they are equal.
std::vector<MachineConfig> clusters_of(const MachineConfig& m) {
  if (m.has_equal_clusters()) return {m.with_cluster(0)};
  std::vector<MachineConfig> clusters;
  for (std::uint32_t c = 0; c < m.clusters; ++c) clusters.push_back(m.with_cluster(c));
  return clusters;
}

constexpr double kFastest = 4096;  // greatest weight

}  // namespace

std::optional<hal::Cores> heterogeneous_cores(const MachineConfig& m, const workload::Workload& n, double dram_cycles) {
  if (m.has_equal_cores()) return {};
  const double share_cycles = dram_cycles * m.clusters * m.cores;
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

std::optional<UnequalClusters> unequal_clusters(const MachineConfig& machine, const workload::Workload& n,
                                                double dram_cycles) {
  if (machine.has_equal_clusters()) return {};
  const std::vector<MachineConfig> clusters = clusters_of(machine);
  const double all_rate = machine.dram.bytes_per_second / machine.clock_hz;
  // Cycles of each cluster for a score: the greater of its engines and its transfers; rates of its cores.
  std::vector<double> cycles;
  std::vector<std::vector<double>> rates;
  for (const MachineConfig& m : clusters) {
    const double transfer = dram_cycles * std::max(1.0 * machine.clusters, all_rate / dma_rate(m));
    double engines = 0;
    std::vector<double>& rate = rates.emplace_back();
    for (std::uint32_t k = 0; k < m.cores; ++k) {
      engines += 1 / score_cycles(m.core(k), n);
      rate.push_back(1 / std::max(transfer * m.cores, score_cycles(m.core(k), n)));
    }
    cycles.push_back(std::max(transfer, 1 / engines));
  }
  UnequalClusters u;
  double most = 0;  // weight of a core, before scaling
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    const double all = std::accumulate(rates[c].begin(), rates[c].end(), 0.0);
    for (double& rate : rates[c]) most = std::max(most, rate /= all * cycles[c]);
  }
  const std::size_t fastest = static_cast<std::size_t>(std::min_element(cycles.begin(), cycles.end()) - cycles.begin());
  std::uint32_t least_rows = UINT32_MAX, most_rows = 0, least_columns = UINT32_MAX;
  bool differ = false;
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    hal::Cores cores{};
    for (std::uint32_t k = 0; k < machine.cores; ++k) {
      const MacConfig mac = clusters[c].core(k).mac;
      cores.weight[k] = static_cast<std::uint16_t>(std::max(1.0, std::round(kFastest * rates[c][k] / most)));
      cores.rows[k] = static_cast<std::uint16_t>(mac.rows);
      least_rows = std::min(least_rows, mac.rows);
      most_rows = std::max(most_rows, mac.rows);
      least_columns = std::min(least_columns, mac.columns);
      const MacConfig first = clusters.front().core(k).mac;
      differ = differ || mac.rows != first.rows || mac.columns != first.columns;
    }
    u.clusters.weight[c] =
        static_cast<std::uint16_t>(std::max(1.0, std::round(kFastest * cycles[fastest] / cycles[c])));
    std::size_t kind = 0;
    while (kind < u.kinds.size() && std::memcmp(&u.kinds[kind], &cores, sizeof cores) != 0) ++kind;
    if (kind == u.kinds.size()) u.kinds.push_back(cores);
    if (u.kinds.size() > hal::kMostClusterKinds) {
      throw config::ConfigError(fmt::format("{}: its clusters are of more than {} speeds; allowed are {}", machine.name,
                                            hal::kMostClusterKinds, hal::kMostClusterKinds));
    }
    u.clusters.kind[c] = static_cast<std::uint8_t>(kind);
    differ = differ || u.clusters.weight[c] != u.clusters.weight[0];
  }
  if (!differ && u.kinds.size() == 1) return {};
  for (hal::Cores& cores : u.kinds) {
    cores.least_rows = least_rows;
    cores.most_rows = most_rows;
    cores.least_columns = least_columns;
  }
  u.fastest = u.kinds[u.clusters.kind[fastest]];
  return u;
}

hal::MachineInfo machine_info(const MachineConfig& m, const workload::Workload& n) {
  const std::vector<MachineConfig> clusters = clusters_of(m);
  const CoreConfig core = core_for_firmware(clusters, n);
  const auto least = [&](const auto& value) {  // over all clusters
    auto smallest = value(clusters.front());
    for (const MachineConfig& cluster : clusters) smallest = std::min(smallest, value(cluster));
    return smallest;
  };
  hal::MachineInfo info{};
  info.clusters = m.clusters;
  info.cores = m.cores;
  info.mac_rows = core.mac.rows;
  info.mac_columns = core.mac.columns;
  info.dma_channels = static_cast<std::uint16_t>(least([](const MachineConfig& c) { return c.dma.channels; }));
  info.dma_queue_depth = static_cast<std::uint16_t>(least([](const MachineConfig& c) { return c.dma.queue_depth; }));
  info.events = m.events.events;
  info.resident_tiles = static_cast<std::uint16_t>(core.mac.resident_tiles);
  info.softmax_rate = static_cast<std::uint16_t>(
      std::clamp<std::uint64_t>(std::uint64_t{core.vec.lanes} * 16 / core.vec.softmax_lane_cycles, 1, 0xFFFF));
  add_dram_rate(info, m);
  info.cluster_groups = static_cast<std::uint8_t>(m.cluster_groups);
  info.l1_bytes = least([](const MachineConfig& c) { return c.l1.size_bytes; });
  info.l0_bytes = core.l0.size_bytes;
  return info;
}

}  // namespace attnvp::job
