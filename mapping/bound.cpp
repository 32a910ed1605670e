#include "mapping/bound.h"

#include <algorithm>
#include <cmath>

#include "mapping/programs.h"
#include "mapping/recording.h"
#include "mapping/replay.h"
#include "models/cached_dram/config.h"
#include "models/mac_engine/mac_rate.h"
#include "models/vec_engine/row_ops.h"

namespace attnvp::mapping {

namespace {

constexpr std::size_t kReplayed = 24000;  // of a stream that are replayed

// Lane-cycles that softmax takes of the VEC engines, each row in the cheaper way: whole, or in one pass, which leaves a
// quotient for each element of O (models/vec_engine/row_ops.h). As a quotient is shared by a row's scores, of no score
// it is less than of one of the longest row there can be.
double least_lane_cycles(const Job& job, const MachineConfig& m, std::uint32_t value_emb) {
  if ((job.block.flags & hal::kPlain) != 0 || m.mac.resident_tiles > 0) return 0;  // the arrays can take it
  std::uint32_t longest = std::max(job.block.layer.seq_kv, 1U);
  for (const std::uint32_t keys : job.contexts) longest = std::max(longest, keys);
  const double quotients = 1.0 * m.vec.div_lane_cycles * value_emb / longest;
  const auto online = static_cast<double>(kOnlineSoftmaxOfAScore.lane_cycles(m.vec));
  return job.scores() * std::min<double>(m.vec.softmax_lane_cycles, online + quotients);
}

}  // namespace

LayerDemand layer_demand(const Job& job, const MachineConfig& m) {
  if (find_dataflow(job.block.dataflow)->is(firmware::kOneStep)) return {};  // which is less than the layer
  const hal::Layer& l = job.block.layer;
  const double cores = 1.0 * m.clusters * m.cores;
  const std::uint32_t value_emb = job.types.value_emb > 0 ? job.types.value_emb : l.emb;
  const double macs = job.scores() * (1.0 * l.emb + value_emb);
  const double bytes_in = hal::element_bytes(job.types.operand), bytes_out = hal::element_bytes(job.types.out);
  const double in = bytes_in * (job.query_rows() * l.emb + job.key_rows() * (1.0 * l.emb + value_emb));
  const double out = bytes_out * job.query_rows() * value_emb;
  double bus = (in + out) / m.dram.bytes_per_second, store = out / m.dram.bytes_per_second;
  if (m.dram.policy == "cached") {  // nobody waits for what is written, nor, where it is warm, for DRAM
    const auto& cache = m.own<CacheConfig>();
    const double fastest = std::max(m.dram.bytes_per_second, cache.bytes_per_second);
    bus = (cache.warm ? in / fastest : in / m.dram.bytes_per_second) + out / fastest;
    store = out / fastest;
  }
  const double rate = static_cast<double>(mac_rate(m.mac, job.types.operand));
  const double lanes = least_lane_cycles(job, m, value_emb) / (cores * m.vec.lanes);
  return {bus * m.clock_hz, macs / (cores * m.mac.rows * m.mac.columns * rate), lanes, macs, store * m.clock_hz};
}

namespace {

double least_of(const Job& job, std::uint32_t cluster, Costs& costs) {
  const MachineConfig& machine = costs.machine();
  const double layer = layer_demand(job, machine).cycles();
  const Recording r = record(job, cluster, costs, kReplayed);
  const Replay order = replay(r, costs, Contention::kBound);
  if (!r.complete) return std::max(layer, order.finished ? order.cycles : 0.0);
  // What this cluster's commands take of each resource.
  double dram = 0, l2 = 0;
  std::vector<double> busy(2 * std::size_t{machine.cores}, 0);
  for (const Recording::Step& s : r.steps) {
    if (s.kind != Recording::Kind::kCommand) continue;
    const Cost& c = costs.of(r.commands[s.command].cost);
    if (s.queue.unit == Unit::kDma) {
      l2 += c.l2;
      dram += c.dram;  // with multicast as well: of one cluster's reads each is another one of DRAM
    } else {
      busy[2 * std::size_t{s.queue.index} + (s.queue.unit == Unit::kVec ? 1 : 0)] += c.pace;
    }
  }
  const double boot =
      std::ceil(1.0 * sizeof(hal::JobBlock) / machine.control.bus_bytes) * machine.control.access_cycles;
  return std::max({layer, order.cycles, boot + dram, boot + l2, *std::max_element(busy.begin(), busy.end())});
}

}  // namespace

double least_cycles(const Job& job, const MachineConfig& machine) {
  Costs costs(machine);
  const double first = least_of(job, 0, costs);
  return machine.clusters == 1 ? first : std::max(first, least_of(job, machine.clusters - 1, costs));
}

}  // namespace attnvp::mapping
