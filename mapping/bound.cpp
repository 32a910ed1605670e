#include "mapping/bound.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <unordered_map>
#include <vector>

#include "mapping/programs.h"
#include "models/cached_dram/config.h"
#include "models/dma_controller/transfer.h"
#include "models/mac_engine/mac_plan.h"
#include "models/mac_engine/mac_rate.h"
#include "models/register_file/share.h"
#include "models/vec_engine/row_ops.h"
#include "models/vec_engine/vec_plan.h"

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

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15U;
  return hash ^ hash >> 29;
}

std::uint64_t hash_of(const hal::Descriptor& d) {
  static_assert(sizeof d % sizeof(std::uint64_t) == 0);
  std::uint64_t hash = 0;
  for (std::size_t at = 0; at < sizeof d; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, reinterpret_cast<const unsigned char*>(&d) + at, sizeof word);
    hash = mixed(hash, word);
  }
  return hash;
}

// What a schedule's commands take of each engine and of DRAM.
class DemandReader final : public Reader {
 public:
  explicit DemandReader(const MachineConfig& m)
      : keeps_tiles_(m.mac.resident_tiles > 0),
        mac_(m.cores, MacPlanner(m.mac)),
        vec_(m.vec, l0_share_bytes(m.l0.size_bytes)),
        busy_(2 * m.cores, 0) {}

  void begin() { std::fill(busy_.begin(), busy_.end(), 0); }
  void command(const Queue& queue, const hal::Descriptor& d) override {
    ++commands;
    digest = mixed(mixed(digest, std::uint64_t{queue.index} << 2 | static_cast<std::uint64_t>(queue.unit)), hash_of(d));
    if (d.opcode == hal::Opcode::kNop) return;
    if (queue.unit == Unit::kDma) return copy(d);
    const bool is_mac = queue.unit == Unit::kMac;
    busy_[2 * queue.index + (is_mac ? 0 : 1)] += cycles_of(is_mac, queue.index, d);
  }
  void give(std::uint32_t event, std::uint32_t tokens) override { digest = mixed(digest, event * 4ULL << 32 | tokens); }
  void take(std::uint32_t event, std::uint32_t tokens) override { digest = mixed(digest, event * 8ULL << 32 | tokens); }
  double busiest() const { return static_cast<double>(*std::max_element(busy_.begin(), busy_.end())); }

  std::uint64_t digest = 0, commands = 0;
  double dram_bytes = 0;

 private:
  void copy(const hal::Descriptor& d) {
    const auto in_dram = [&](int i) { return d.operand[i].address < hal::kL2Base; };
    const bool forwarded = (d.flags & hal::kForwarded) != 0;
    dram_bytes += static_cast<double>(copy_bytes(d)) * ((in_dram(0) && !forwarded ? 1 : 0) + (in_dram(1) ? 1 : 0));
  }

  // By the command's shape, where that is all it depends on.
  std::uint64_t cycles_of(bool is_mac, std::uint32_t core, const hal::Descriptor& d) {
    if (is_mac && keeps_tiles_) return planned(is_mac, core, d);
    hal::Descriptor shape = d;
    shape.head = 0;
    shape.row_block = shape.remote = 0;
    std::fill(std::begin(shape.wait), std::end(shape.wait), hal::EventRef{});
    std::fill(std::begin(shape.signal), std::end(shape.signal), hal::EventRef{});
    for (hal::Operand& operand : shape.operand) operand.address = operand.address == 0 ? 0 : 1;
    const auto [known, fresh] = cycles_.try_emplace(hash_of(shape));
    if (fresh) known->second = planned(is_mac, core, d);
    return known->second;
  }
  std::uint64_t planned(bool is_mac, std::uint32_t core, const hal::Descriptor& d) {
    Plan plan;
    const bool is_refused = is_mac ? mac_[core].plan(d, plan).any() : vec_.plan(d, plan).any();
    return is_refused ? 0 : plan.body.pace_cycles + plan.last.pace_cycles;
  }

  bool keeps_tiles_;
  std::vector<MacPlanner> mac_;  // of each core: tiles stay in an array between two commands
  VecPlanner vec_;
  std::vector<std::uint64_t> busy_;  // MAC and VEC of one core after the other, in cycles
  std::unordered_map<std::uint64_t, std::uint64_t> cycles_;
};

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

StreamDemand stream_demand(const Job& job, const MachineConfig& machine) {
  StreamDemand demand;
  demand.cycles = layer_demand(job, machine).cycles();
  DemandReader reader(machine);
  for (std::uint32_t cluster = 0; cluster < machine.clusters; ++cluster) {
    reader.begin();
    read_stream(job, cluster, reader);
    demand.cycles = std::max(demand.cycles, reader.busiest());
  }
  // A cache or a network that joins reads may serve what DRAM is not asked for.
  const bool from_dram = machine.dram.policy == "fixed" && machine.interconnect.kind == "ideal";
  const double bus = reader.dram_bytes / machine.dram.bytes_per_second * machine.clock_hz;
  if (from_dram) demand.cycles = std::max(demand.cycles, bus);
  demand.digest = reader.digest;
  demand.commands = reader.commands;
  return demand;
}

}  // namespace attnvp::mapping
