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

double least_of(const Job& job, std::uint32_t cluster, Costs& costs, std::size_t most) {
  const MachineConfig& machine = costs.machine();
  const double layer = layer_demand(job, machine).cycles();
  const Recording r = record(job, cluster, costs, most);
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

// The cycles of each engine of a cluster, on several machines.
class Paces final : public Reader {
 public:
  explicit Paces(std::vector<Costs>& costs) : costs_(costs), busy_(costs.size()) {}
  void command(const Queue& queue, const hal::Descriptor& d) override {
    if (queue.unit == Unit::kDma || d.opcode == hal::Opcode::kNop) return;
    const std::size_t engine = 2 * std::size_t{queue.index} + (queue.unit == Unit::kVec ? 1 : 0);
    for (std::size_t m = 0; m < costs_.size(); ++m) {
      if (busy_[m].size() <= engine) busy_[m].resize(engine + 1);
      busy_[m][engine] += costs_[m].of(costs_[m].number_of(queue.unit, d)).pace;
    }
  }
  std::uint32_t level(const Queue& /*queue*/) override {
    deals_ = true;
    return 0;
  }
  bool deals() const { return deals_; }
  const std::vector<double>& busy(std::size_t machine) const { return busy_[machine]; }

 private:
  std::vector<Costs>& costs_;
  std::vector<std::vector<double>> busy_;
  bool deals_ = false;
};

}  // namespace

double least_cycles(const Job& job, const MachineConfig& machine, std::size_t most) {
  Costs costs(machine);
  const double first = least_of(job, 0, costs, most);
  return machine.clusters == 1 ? first : std::max(first, least_of(job, machine.clusters - 1, costs, most));
}

std::vector<EngineDemand> engine_demands(const Job& job, const std::vector<MachineConfig>& machines) {
  std::vector<Costs> costs;
  costs.reserve(machines.size());
  for (const MachineConfig& machine : machines) costs.emplace_back(machine);
  std::vector<EngineDemand> most(machines.size()), all(machines.size());
  bool deals = false;
  const std::uint32_t clusters = machines.front().clusters;
  for (std::uint32_t cluster = 0; cluster < clusters; ++cluster) {
    Paces paces(costs);
    read_stream(job, cluster, paces);
    deals = deals || paces.deals();
    for (std::size_t m = 0; m < machines.size(); ++m) {
      const std::vector<double>& busy = paces.busy(m);
      for (std::size_t engine = 0; engine < busy.size(); ++engine) {
        const bool vec = engine % 2 == 1;
        double& busiest = vec ? most[m].vec : most[m].mac;
        busiest = std::max(busiest, busy[engine]);
        (vec ? all[m].vec : all[m].mac) += busy[engine];
      }
    }
  }
  if (!deals) return most;
  const double engines = 1.0 * clusters * machines.front().cores;
  for (EngineDemand& demand : all) demand = {demand.mac / engines, demand.vec / engines};
  return all;
}

}  // namespace attnvp::mapping
