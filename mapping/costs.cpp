#include "mapping/costs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <tuple>

#include "models/cached_dram/config.h"
#include "models/dma_controller/transfer.h"
#include "models/engine/row_mask.h"
#include "models/network/config.h"
#include "models/register_file/share.h"

namespace attnvp::mapping {

namespace {

// What the layer's mask hides of a command's rows depends on: where those are; and in a band, of one head's queries,
// how far they are along its keys. So that tiles on a diagonal are of few shapes. Requests have histories of their own.
std::pair<std::uint64_t, std::uint64_t> place_of(const hal::Descriptor& d) {
  constexpr std::uint64_t kInABand = std::uint64_t{1} << 63;
  const hal::RuleTail& at = d.tail.rule;
  const hal::Mask& m = at.mask;
  const bool band = m.by_place() && m.sinks == 0 && m.prefix == 0 && (d.flags & hal::kBlocked) == 0 && m.queries > 0;
  if (!band || d.rows > m.queries - at.row % m.queries) {
    return {std::uint64_t{at.row} << 32 | at.key, std::uint64_t{m.queries} << 32 | m.history};
  }
  return {kInABand | static_cast<std::uint32_t>(m.history + at.row % m.queries - at.key), 0};
}

}  // namespace

Costs::Shape Costs::shape_of(Unit unit, const hal::Descriptor& d) {
  Shape shape{};
  shape[0] = static_cast<std::uint64_t>(unit) << 56 | static_cast<std::uint64_t>(d.opcode) << 48 |
             static_cast<std::uint64_t>(d.flags) << 32 | d.rows;
  for (std::size_t i = 0; i < hal::kOperands; ++i) {
    const hal::Operand& o = d.operand[i];
    shape[1 + i] = static_cast<std::uint64_t>(o.row_stride) << 32 | o.columns;
    const auto type = static_cast<std::uint64_t>(d.type[i]);
    const std::uint64_t memory = o.address >= hal::kL1Base ? 1 : o.address >= hal::kL2Base ? 2 : 0;
    shape[5] |= (type << 2 | memory) << (8 * i);
  }
  std::memcpy(&shape[6], d.tail.bytes, 2 * sizeof shape[6]);
  if ((d.flags & hal::kMasked) != 0) std::tie(shape[7], shape[8]) = place_of(d);
  if (MacPlanner::is_tile_op(d.opcode)) shape[6] &= 0xFFFF'FFFF;  // keys without the slot
  return shape;
}

std::size_t Costs::Hash::operator()(const Shape& shape) const {
  std::uint64_t hash = 0;
  for (const std::uint64_t w : shape) {
    hash = (hash ^ w) * 0x9E37'79B9'7F4A'7C15;
    hash ^= hash >> 32;
  }
  return hash;
}

// Sums of products, which need not wait for each other.
std::size_t Costs::recent_at(const Shape& shape) {
  std::uint64_t sum = 0;
  std::uint64_t factor = 0x9E37'79B9'7F4A'7C15;
  for (const std::uint64_t w : shape) sum += (w ^ w >> 32) * factor, factor += 0x3C6E'F372'FE94'F82A;
  return sum >> (64 - kRecentBits);
}

Costs::Costs(const MachineConfig& machine)
    : machine_(machine), mac_(machine.mac), vec_(machine.vec, l0_share_bytes(machine.l0.size_bytes)) {
  for (auto& [shape, number] : recent_) shape.fill(~std::uint64_t{0});  // as none is
}

std::uint32_t Costs::number_of(Unit unit, const hal::Descriptor& d) {
  const Shape shape = shape_of(unit, d);
  auto& [recent, number] = recent_[recent_at(shape)];
  if (recent == shape) return number;
  const auto [at, fresh] = numbers_.try_emplace(shape);
  if (fresh) {
    const Cost cost = unit == Unit::kDma ? copy(d) : engine(unit, d);
    at->second = equals_.try_emplace(cost.values(), static_cast<std::uint32_t>(costs_.size())).first->second;
    if (at->second == costs_.size()) costs_.push_back(cost);
  }
  recent = shape;
  return number = at->second;
}

std::array<double, 19> Cost::values() const {
  const auto bytes = [this](Stage s) { return static_cast<double>(stage[s].bytes); };
  const auto cycles = [this](Stage s) { return static_cast<double>(stage[s].pace); };
  const double flags = (shared ? 4 : 0) + (after_previous ? 2 : 0) + (possible ? 1 : 0);
  return {bytes(kFill),   cycles(kFill), bytes(kBody), cycles(kBody), bytes(kLast), cycles(kLast), bytes(kDrain),
          cycles(kDrain), pipeline,      l1_bytes,     pace,          bus,          bursts,        latency,
          drain,          dram,          l2,           flags,         hidden};
}

Cost Costs::engine(Unit unit, const hal::Descriptor& d) {
  Cost cost;
  if (d.opcode == hal::Opcode::kNop) return cost;
  Plan plan;
  const bool mac = unit == Unit::kMac;
  // A tile that another command has left in the array: not a matter of cost.
  if (d.opcode == hal::Opcode::kAttendTile) {
    mac_.resident().put(d.tail.tile.slot, d.rows, d.tail.tile.keys);
  }
  const Refusal error = mac ? mac_.plan(d, plan) : vec_.plan(d, plan);
  cost.possible = !error.any();
  const Stream* const streams[] = {&plan.fill, &plan.body, &plan.last, &plan.drain};
  for (std::uint32_t i = 0; i < kStages; ++i) cost.stage[i] = {streams[i]->traffic(), streams[i]->pace_cycles};
  cost.l1_bytes =
      static_cast<double>(plan.fill.traffic() + plan.body.traffic() + plan.last.traffic() + plan.drain.traffic());
  cost.pace = static_cast<double>(plan.body.pace_cycles + plan.last.pace_cycles);
  cost.pipeline =
      static_cast<double>((mac ? machine_.mac.pipeline_cycles : machine_.vec.pipeline_cycles) + plan.latency_cycles);
  cost.after_previous = plan.after_previous;
  if (cost.possible && (d.flags & hal::kMasked) != 0) {  // what is refused may have a mask of no rows
    const std::uint32_t columns = mac ? d.tail.tile.keys : d.operand[0].columns;
    const RowMask mask(d, columns);
    for (std::uint32_t row = 0; row < d.rows; ++row) cost.hidden += columns - static_cast<double>(mask.of(row).count());
  }
  return cost;
}

Cost Costs::copy(const hal::Descriptor& d) const {
  Cost cost;
  if (d.opcode == hal::Opcode::kNop) return cost;
  const MachineConfig& m = machine_;
  const std::uint64_t from = d.operand[0].address, to = d.operand[1].address;
  const auto in_l2 = [](std::uint64_t address) { return address >= hal::kL2Base && address < hal::kL1Base; };
  const bool load = to >= hal::kL1Base, stage = from < hal::kL2Base && in_l2(to);
  const auto bytes = static_cast<double>(copy_bytes(d));
  if (in_l2(from) || in_l2(to)) cost.l2 = bytes * m.clock_hz / m.l2.bytes_per_second;
  if (cost.l2 == 0 || stage) cost.dram = bytes / (m.dram.bytes_per_second / m.clock_hz);
  cost.bus = std::max(cost.dram, cost.l2);
  const double rate = bytes / cost.bus;
  double latency = in_l2(from) ? m.l2.latency_seconds : m.dram.latency_seconds;
  if (m.dram.policy == "cached" && cost.dram > 0) {  // most of what is read has been read before
    const auto& cache = m.own<CacheConfig>();
    cost.dram = std::min(cost.dram, bytes * m.clock_hz / cache.bytes_per_second);
    latency = std::min(latency, cache.latency_seconds);
  }
  if (load || stage) cost.latency = latency * m.clock_hz;
  cost.shared = (load || stage) && !in_l2(from) && m.clusters > 1 && m.own<NetworkConfig>().multicast;
  // Bursts, of which only so many are under way, each as long as DRAM's latency, its own transfer and its way over the
  // L1 port, in whole cycles.
  const double bursts = static_cast<double>(copy_bursts(d, m.dma.burst_bytes));
  cost.l1_bytes = stage || (d.flags & hal::kForwarded) != 0 ? 0 : bytes;
  const double port = std::ceil(cost.l1_bytes / bursts / m.l1.port_bytes_per_cycle);
  const double one = std::ceil(cost.latency + bytes / bursts / rate - 1e-6) + port;
  const double under_way = static_cast<double>(m.dma.most_counted()) /
                           static_cast<double>(m.dma.counted(static_cast<std::uint64_t>(bytes / bursts)));
  cost.bursts = std::max({cost.bus, bursts * port, bursts * one / under_way});
  cost.drain = load ? port : 0;
  return cost;
}

}  // namespace attnvp::mapping
