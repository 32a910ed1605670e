#include "platform/schedule/bound.h"

#include <algorithm>

#include "models/engine/mac_engine/mac_plan.h"
#include "models/engine/vec_engine/row_ops.h"
#include "models/memory/config.h"
#include "platform/schedule/programs.h"

namespace attnvp::schedule {

namespace {

// Multiply-accumulates of all arrays per cycle.
double macs_per_cycle(const MachineConfig& m, hal::ElementType type) {
  return m.sum_of_cores([&](const CoreConfig& c) {
    return 1.0 * c.mac.rows * c.mac.columns * static_cast<double>(mac_rate(c.mac, type));
  });
}

// Cycles of all VEC engines together; each needs `lane_cycles` lane-cycles for an element.
template <class LaneCycles>
double vec_cycles(const MachineConfig& m, double elements, const LaneCycles& lane_cycles) {
  if (m.has_equal_cores()) return elements * lane_cycles(m.core(0)) / m.vec_lanes();
  double rate = 0;  // elements per cycle
  for (std::uint32_t k = 0; k < m.cores; ++k) {
    const CoreConfig core = m.core(k);
    const double each = lane_cycles(core);
    if (each == 0) return 0;
    rate += core.vec.lanes / each * m.clusters;
  }
  return elements / rate;
}

// Least lane-cycles of a core's VEC engine for the softmax of a score. Each row takes the cheaper method: whole, or one
// pass with a division for each element of O (models/engine/vec_engine/row_ops.h). The division is shared by the scores
// of a row, so the longest row gives the bound.
double least_lane_cycles(const Job& job, const CoreConfig& m, std::uint32_t value_emb) {
  if ((job.block.flags & hal::kPlain) != 0 || m.mac.resident_tiles > 0) return 0;  // the arrays can compute it
  std::uint32_t longest = std::max(job.block.layer.seq_kv, 1U);
  for (const std::uint32_t keys : job.contexts) longest = std::max(longest, keys);
  const double quotients = 1.0 * m.vec.div_lane_cycles * value_emb / longest;
  const auto online = static_cast<double>(kOnlineSoftmaxOfAScore.lane_cycles(m.vec));
  return std::min<double>(m.vec.softmax_lane_cycles, online + quotients);
}

LayerDemand product_demand(const Job& job, const MachineConfig& m) {
  const hal::Layer& l = job.block.layer;
  const double products = 1.0 * l.batch * l.heads, rows = l.seq_q, columns = l.seq_kv, depth = l.emb;
  const double in = products * (rows + columns) * depth * hal::element_bytes(job.types.operand);
  const double out = products * rows * columns * hal::element_bytes(job.types.out);
  const double macs = products * rows * columns * depth;
  return {bus_cycles(m, in, out), macs / macs_per_cycle(m, job.types.operand), 0, macs};
}

// Rows that are read, processed and written; other operands are left out.
LayerDemand row_demand(const Job& job, const MachineConfig& m, bool is_softmax) {
  const hal::Layer& l = job.block.layer;
  const double elements = 1.0 * l.batch * l.heads * l.seq_q * l.seq_kv;
  const auto lane_cycles = [](const CoreConfig& c) { return static_cast<double>(c.vec.softmax_lane_cycles); };
  return {bus_cycles(m, elements * hal::element_bytes(job.types.operand), elements * hal::element_bytes(job.types.out)),
          0, is_softmax ? vec_cycles(m, elements, lane_cycles) : 0, 0};
}

}  // namespace

double bus_cycles(const MachineConfig& m, double in, double out) {
  double seconds = (in + out) / m.dram.bytes_per_second;
  if (m.dram.policy == "cached") {  // writes are not waited for, nor DRAM if the cache is warm
    const auto& cache = m.own<CacheConfig>();
    const double fastest = std::max(m.dram.bytes_per_second, cache.bytes_per_second);
    seconds = (cache.warm ? in / fastest : in / m.dram.bytes_per_second) + out / fastest;
  }
  return seconds * m.clock_hz;
}

LayerDemand layer_demand(const Job& job, const MachineConfig& m) {
  const firmware::Dataflow& dataflow = *dataflow_of(job);
  if (dataflow.is(firmware::kOneStep)) {
    if (!dataflow.is(firmware::kRowStep) && dataflow.is(firmware::kChain)) return product_demand(job, m);
    return row_demand(job, m, !dataflow.is(firmware::kRowStep));
  }
  const hal::Layer& l = job.block.layer;
  const std::uint32_t value_emb = job.types.value_emb > 0 ? job.types.value_emb : l.emb;
  const double macs = job.scores() * (1.0 * l.emb + value_emb);
  const double bytes_in = hal::element_bytes(job.types.operand), bytes_out = hal::element_bytes(job.types.out);
  const double in = bytes_in * (job.query_rows() * l.emb + job.key_rows() * (1.0 * l.emb + value_emb));
  const double out = bytes_out * job.query_rows() * value_emb;
  const double lanes =
      vec_cycles(m, job.scores(), [&](const CoreConfig& c) { return least_lane_cycles(job, c, value_emb); });
  return {bus_cycles(m, in, out), macs / macs_per_cycle(m, job.types.operand), lanes, macs};
}

}  // namespace attnvp::schedule
