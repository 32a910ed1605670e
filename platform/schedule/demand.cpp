#include "platform/schedule/demand.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <unordered_map>
#include <vector>

#include "models/engine/dma_controller/transfer.h"
#include "models/engine/mac_engine/mac_plan.h"
#include "models/engine/vec_engine/row_ops.h"
#include "models/memory/config.h"
#include "platform/schedule/bus.h"
#include "platform/schedule/counter.h"
#include "platform/schedule/programs.h"

namespace attnvp::schedule {

namespace {

// Multiply-accumulates of all arrays per cycle.
double macs_per_cycle(const MachineConfig& m, hal::ElementType type) {
  return m.sum_of_cores([&](const CoreConfig& c) { return static_cast<double>(c.mac.pes() * mac_rate(c.mac, type)); });
}

// Cycles of all VEC engines together; each needs `lane_cycles` lane-cycles for an element.
template <class LaneCycles>
double vec_cycles(const MachineConfig& m, double elements, const LaneCycles& lane_cycles) {
  if (m.has_equal_clusters() && m.has_equal_cores()) return elements * lane_cycles(m.core(0)) / m.vec_lanes();
  bool is_free = false;
  const double rate = m.sum_of_cores([&](const CoreConfig& core) {  // elements per cycle
    const double each = lane_cycles(core);
    is_free = is_free || each == 0;
    return each == 0 ? 0 : core.vec.lanes / each;
  });
  return is_free ? 0 : elements / rate;
}

// Least lane-cycles of a core's VEC engine for the softmax of a score. Each row takes the cheaper method: whole, or one
// pass with a division for each element of O (models/engine/vec_engine/row_ops.h). The division is shared by the scores
// of a row, so the longest row gives the bound.
double least_lane_cycles(const Job& job, const CoreConfig& m, std::uint32_t value_emb) {
  if ((job.block.flags & hal::kPlain) != 0 || m.mac.resident_tiles > 0) return 0;  // the arrays can compute it
  std::uint32_t longest = std::max(job.block.layer.seq_kv, 1U);
  for (const std::uint32_t keys : job.contexts) longest = std::max(longest, keys);
  const std::uint32_t each = m.vec.reciprocals ? m.vec.mul_lane_cycles : m.vec.div_lane_cycles;
  const double quotients = 1.0 * each * value_emb / longest;
  const auto online = static_cast<double>(kOnlineSoftmaxOfAScore.lane_cycles(m.vec));
  return std::min<double>(m.vec.softmax_lane_cycles, online + quotients);
}

// Lane operations on every element: bias, norm and such.
double lane_cycles(const MachineConfig& m, double elements, const LaneOperations& of_element) {
  return vec_cycles(m, elements,
                    [&](const CoreConfig& c) { return static_cast<double>(of_element.lane_cycles(c.vec)); });
}

// Row operations of a product, without those of whole rows. The norm counts once, though every cluster that multiplies
// a row normalises it.
LayerDemand fused_demand(const Job& job, const MachineConfig& m) {
  const hal::FusedProduct f = fused_of(job);
  const hal::Layer& l = job.block.layer;
  const double rows = l.seq_q, columns = l.seq_kv, width = f.is_gated != 0 ? columns / 2 : columns;
  double in = 0, lanes = 0;
  const auto add = [&](bool is, double operand, double elements, const LaneOperations& of_element) {
    if (!is) return;
    in += operand * hal::element_bytes(hal::ElementType::kFp16);
    lanes += lane_cycles(m, elements, of_element);
  };
  add(f.gamma != 0, l.emb * (f.beta != 0 ? 2.0 : 1.0), rows * l.emb, operations_of_norm(f.beta != 0));
  add(f.bias != 0, columns, rows * columns, kAddition);
  add(f.rotated > 0, rows * f.head, rows * f.rotated, kRotation);
  add(f.is_activated != 0, 0, rows * width, operations_of_activation(f.function, f.is_gated != 0));
  const double last = second_of(job).columns > 0 ? second_of(job).columns : width;
  add(f.residual != 0, rows * last, rows * last, kAddition);
  add(f.out != hal::ElementType::kNone, 0, rows * last, kScaling);
  return {bus_cycles(m, in, 0), 0, lanes, 0};
}

LayerDemand product_demand(const Job& job, const MachineConfig& m) {
  const hal::Layer& l = job.block.layer;
  const double products = 1.0 * l.batch * l.heads, rows = l.seq_q, columns = l.seq_kv, depth = l.emb;
  const double width = fused_of(job).is_gated != 0 ? columns / 2 : columns;
  const double last = second_of(job).columns, result = last > 0 ? last : width;
  const double bytes = hal::element_bytes(job.types.operand);
  double in = products * (rows + columns) * depth * bytes + last * width * bytes, lanes = 0;
  if (const hal::Weights w = weights_of(job); w.type != hal::ElementType::kNone) {
    const auto of_row = [&w](double elements) {  // of weights
      const double groups = w.group == 0 ? 1 : std::ceil(elements / w.group);
      return static_cast<double>(hal::bytes_of(w.type, static_cast<std::uint64_t>(elements))) +
             groups * hal::element_bytes(w.scale);
    };
    in = rows * depth * bytes + columns * of_row(depth) + (last > 0 ? last * of_row(width) : 0);
    lanes = lane_cycles(m, columns * depth + last * width, kScaling);
  }
  const double macs = products * rows * columns * depth + rows * last * width;
  const hal::ElementType converted = fused_of(job).out, type = job.types.out;
  const double out =
      products * rows * result * hal::element_bytes(converted != hal::ElementType::kNone ? converted : type);
  const LayerDemand fused = fused_demand(job, m);
  return {bus_cycles(m, in, out) + fused.bus, macs / macs_per_cycle(m, job.types.operand), lanes + fused.lanes, macs};
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

namespace {

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

// Demand of a schedule's commands on each engine and on DRAM.
class DemandReader final : public Reader {
 public:
  explicit DemandReader(const MachineConfig& m) : machine_(m), busy_(2 * m.cores, 0) { take(m.with_cluster(0)); }

  void begin(std::uint32_t cluster) {
    if (!machine_.cluster_overrides.empty()) take(machine_.with_cluster(cluster));
    std::fill(busy_.begin(), busy_.end(), 0);
    busiest_ = 0;
  }
  void command(const Queue& queue, const hal::Descriptor& d) override {
    ++commands;
    digest = mixed(mixed(digest, std::uint64_t{queue.index} << 2 | static_cast<std::uint64_t>(queue.unit)), hash_of(d));
    if (d.opcode == hal::Opcode::kNop) return;
    if (queue.unit == Unit::kDma) return copy(d);
    const bool is_mac = queue.unit == Unit::kMac;
    std::uint64_t& busy = busy_[2 * queue.index + (is_mac ? 0 : 1)];
    busy += cycles_of(is_mac, queue.index, d);
    busiest_ = std::max(busiest_, busy);
  }
  bool enough() const override { return busiest() > most_cycles || dram_bytes > most_dram_bytes; }
  void give(std::uint32_t event, std::uint32_t tokens) override { digest = mixed(digest, event * 4ULL << 32 | tokens); }
  void take(std::uint32_t event, std::uint32_t tokens) override { digest = mixed(digest, event * 8ULL << 32 | tokens); }
  std::uint32_t level(const Queue& /*queue*/) override {
    deals = true;
    return 0;
  }
  double busiest() const { return static_cast<double>(busiest_); }

  double most_cycles = std::numeric_limits<double>::infinity();  // limit for one engine
  double most_dram_bytes = std::numeric_limits<double>::infinity();
  std::uint64_t digest = 0, commands = 0;
  double dram_bytes = 0;
  bool deals = false;  // distributes work by queue levels

  const std::vector<std::uint64_t>& busy() const { return busy_; }  // MAC and VEC of each core in turn, in cycles

 private:
  void take(const MachineConfig& cluster) {
    by_shape_ = cluster.mac.resident_tiles == 0 && cluster.has_equal_cores();
    mac_ = mac_planners(cluster);
    vec_ = vec_planners(cluster);
    cycles_.clear();
  }

  void copy(const hal::Descriptor& d) {
    const auto in_dram = [&](int i) { return d.operand[i].address < hal::kL2Base; };
    const bool forwarded = (d.flags & hal::kForwarded) != 0;
    dram_bytes += static_cast<double>(copy_bytes(d)) * ((in_dram(0) && !forwarded ? 1 : 0) + (in_dram(1) ? 1 : 0));
  }

  // Cached by the command's shape if the cycles depend on nothing else.
  std::uint64_t cycles_of(bool is_mac, std::uint32_t core, const hal::Descriptor& d) {
    if (!by_shape_ && (is_mac || vec_.size() > 1)) return planned(is_mac, core, d);
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
    const bool is_refused = is_mac ? mac_[core].plan(d, plan).any() : vec_[core % vec_.size()].plan(d, plan).any();
    return is_refused ? 0 : plan.body.pace_cycles + plan.last.pace_cycles;
  }

  const MachineConfig& machine_;
  bool by_shape_ = false;
  std::vector<MacPlanner> mac_;  // one for each core: tiles stay in an array between commands
  std::vector<VecPlanner> vec_;  // one for each core, or one if cores are equal
  std::vector<std::uint64_t> busy_;
  std::uint64_t busiest_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> cycles_;
};

// Forwards the commands to several readers.
class Several final : public Reader {
 public:
  explicit Several(std::vector<DemandReader>& readers) : readers_(readers) {}
  void command(const Queue& queue, const hal::Descriptor& d) override {
    for (DemandReader& reader : readers_) reader.command(queue, d);
  }
  std::uint32_t level(const Queue& queue) override { return readers_.front().level(queue); }

 private:
  std::vector<DemandReader>& readers_;
};

}  // namespace

StreamDemand stream_demand(const Job& job, const MachineConfig& machine, double most_cycles) {
  StreamDemand demand;
  demand.cycles = layer_demand(job, machine).cycles();
  // A cache, or a network that merges reads, may reduce DRAM reads.
  const bool from_dram = machine.dram.policy == "fixed" && machine.interconnect.kind == "ideal";
  const double bytes_per_cycle = machine.dram.bytes_per_second / machine.clock_hz;
  DemandReader reader(machine);
  reader.most_cycles = most_cycles;
  if (from_dram) reader.most_dram_bytes = most_cycles * bytes_per_cycle;
  for (std::uint32_t cluster = 0; cluster < machine.clusters && demand.cycles <= most_cycles; ++cluster) {
    reader.begin(cluster);
    read_stream(job, cluster, reader);
    demand.cycles = std::max(demand.cycles, reader.busiest());
    if (from_dram) demand.cycles = std::max(demand.cycles, reader.dram_bytes / bytes_per_cycle);
    if (reader.enough()) demand.cycles = std::max(demand.cycles, std::nextafter(most_cycles, HUGE_VAL));
  }
  demand.digest = reader.digest;
  demand.commands = reader.commands;
  return demand;
}

double quick_least_cycles(const Job& job, const MachineConfig& machine) {
  DemandReader reader(machine);
  reader.begin(0);
  read_stream(job, 0, reader);
  return std::max(layer_demand(job, machine).cycles(), reader.busiest());
}

std::vector<EngineDemand> engine_demands(const Job& job, const std::vector<MachineConfig>& machines) {
  std::vector<DemandReader> readers;
  readers.reserve(machines.size());
  for (const MachineConfig& machine : machines) readers.emplace_back(machine);
  Several several(readers);
  std::vector<EngineDemand> most(machines.size()), mean(machines.size());
  const std::uint32_t clusters = machines.front().clusters;
  const double engines = 1.0 * clusters * machines.front().cores;
  for (std::uint32_t cluster = 0; cluster < clusters; ++cluster) {
    for (DemandReader& reader : readers) reader.begin(cluster);
    read_stream(job, cluster, several);
    for (std::size_t m = 0; m < machines.size(); ++m) {
      const std::vector<std::uint64_t>& busy = readers[m].busy();
      for (std::size_t engine = 0; engine < busy.size(); ++engine) {
        const auto cycles = static_cast<double>(busy[engine]);
        const bool is_vec = engine % 2 == 1;
        double& busiest = is_vec ? most[m].vec : most[m].mac;
        busiest = std::max(busiest, cycles);
        (is_vec ? mean[m].vec : mean[m].mac) += cycles / engines;
      }
    }
  }
  return readers.front().deals ? mean : most;
}

}  // namespace attnvp::schedule
