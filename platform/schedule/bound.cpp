#include "platform/schedule/bound.h"

#include <algorithm>

#include "models/cached_dram/config.h"
#include "models/mac_engine/mac_rate.h"
#include "models/vec_engine/row_ops.h"
#include "platform/schedule/programs.h"

namespace attnvp::schedule {

namespace {

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

LayerDemand product_demand(const Job& job, const MachineConfig& m) {
  const hal::Layer& l = job.block.layer;
  const double products = 1.0 * l.batch * l.heads, rows = l.seq_q, columns = l.seq_kv, depth = l.emb;
  const double in = products * (rows + columns) * depth * hal::element_bytes(job.types.operand);
  const double out = products * rows * columns * hal::element_bytes(job.types.out);
  const double macs = products * rows * columns * depth;
  const auto rate = static_cast<double>(mac_rate(m.mac, job.types.operand));
  return {bus_cycles(m, in, out), macs / (1.0 * m.clusters * m.cores * m.mac.rows * m.mac.columns * rate), 0, macs};
}

// Rows that are read, worked on and written: what is read beside them is left out.
LayerDemand row_demand(const Job& job, const MachineConfig& m, bool is_softmax) {
  const hal::Layer& l = job.block.layer;
  const double elements = 1.0 * l.batch * l.heads * l.seq_q * l.seq_kv;
  const double lanes = is_softmax ? elements * static_cast<double>(m.vec.softmax_lane_cycles) : 0;
  return {bus_cycles(m, elements * hal::element_bytes(job.types.operand), elements * hal::element_bytes(job.types.out)),
          0, lanes / (1.0 * m.clusters * m.cores * m.vec.lanes), 0};
}

}  // namespace

double bus_cycles(const MachineConfig& m, double in, double out) {
  double seconds = (in + out) / m.dram.bytes_per_second;
  if (m.dram.policy == "cached") {  // nobody waits for what is written, nor, where it is warm, for DRAM
    const auto& cache = m.own<CacheConfig>();
    const double fastest = std::max(m.dram.bytes_per_second, cache.bytes_per_second);
    seconds = (cache.warm ? in / fastest : in / m.dram.bytes_per_second) + out / fastest;
  }
  return seconds * m.clock_hz;
}

LayerDemand layer_demand(const Job& job, const MachineConfig& m) {
  const firmware::Dataflow& dataflow = *find_dataflow(job.block.dataflow);
  if (dataflow.is(firmware::kOneStep)) {
    if (!dataflow.is(firmware::kRowStep) && dataflow.is(firmware::kChain)) return product_demand(job, m);
    return row_demand(job, m, !dataflow.is(firmware::kRowStep));
  }
  const hal::Layer& l = job.block.layer;
  const double cores = 1.0 * m.clusters * m.cores;
  const std::uint32_t value_emb = job.types.value_emb > 0 ? job.types.value_emb : l.emb;
  const double macs = job.scores() * (1.0 * l.emb + value_emb);
  const double bytes_in = hal::element_bytes(job.types.operand), bytes_out = hal::element_bytes(job.types.out);
  const double in = bytes_in * (job.query_rows() * l.emb + job.key_rows() * (1.0 * l.emb + value_emb));
  const double out = bytes_out * job.query_rows() * value_emb;
  const auto rate = static_cast<double>(mac_rate(m.mac, job.types.operand));
  const double lanes = least_lane_cycles(job, m, value_emb) / (cores * m.vec.lanes);
  return {bus_cycles(m, in, out), macs / (cores * m.mac.rows * m.mac.columns * rate), lanes, macs};
}

}  // namespace attnvp::schedule
