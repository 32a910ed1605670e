#include "models/sim/stall_attribution.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "models/interconnect/bus/stream.h"
#include "models/sim/descriptor_shape.h"

namespace attnvp {

namespace {

// Rows of operand i; for a copy, over all planes.
std::uint64_t all_rows(const hal::Descriptor& d, int i) {
  const std::uint64_t rows = hal::rows_of(d, i);
  if (d.opcode != hal::Opcode::kCopy) return rows;
  const std::uint64_t planes = std::max(d.tail.copy.planes, 1U), stride = std::max(d.operand[i].row_stride, 1U);
  return rows + (planes - 1) * d.tail.copy.plane_stride[i] / stride;
}

// Bytes that a descriptor reads and writes, by its operands.
struct Footprint {
  std::array<Region, hal::kOperands> region{};
  int regions = 0;
};

Footprint footprint_of(const hal::Descriptor& d) {
  Footprint f;
  for (int i = 0; i < hal::kOperands; ++i) {
    const hal::OperandInfo* const info = hal::operand_info(d, i);
    if (info == nullptr || d.type[i] == hal::ElementType::kNone) continue;
    const hal::Operand& o = d.operand[i];
    f.region[static_cast<std::size_t>(f.regions++)] = {
        o.address, all_rows(d, i), d.row_bytes(i), o.row_stride, 0, info->role != hal::OperandRole::kRead};
  }
  return f;
}

bool touch(const Footprint& a, bool a_writes, const Footprint& b, bool b_writes) {
  for (int i = 0; i < a.regions; ++i) {
    const Region& x = a.region[static_cast<std::size_t>(i)];
    for (int k = 0; x.write == a_writes && k < b.regions; ++k) {
      const Region& y = b.region[static_cast<std::size_t>(k)];
      if (y.write == b_writes && overlap(x, y)) return true;
    }
  }
  return false;
}

}  // namespace

std::uint8_t SignallingDescriptors::tag(std::uint64_t address) const {
  for (const TaggedRange& r : ranges) {
    if (address >= r.begin && address < r.end) return r.tag;
  }
  return 0;
}

std::uint64_t SignallingDescriptors::shape_of(const hal::Descriptor& descriptor) const {
  sim::StateVisitor shape;
  hal::Descriptor d = descriptor;
  make_canonical(d);
  if (const int operand = dram_operand(d); operand >= 0) {
    shape.value(tag(d.operand[operand].address));
    shape.value(operand);
    d.operand[operand].address = 0;
  }
  const std::size_t words = std::min<std::size_t>(d.length, sizeof d) / sizeof(std::uint64_t);
  for (std::size_t i = 0; i < words; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, reinterpret_cast<const unsigned char*>(&d) + i * sizeof word, sizeof word);
    shape.value(word);
  }
  return shape.digest();
}

void SignallingDescriptors::visit_state(sim::StateVisitor& visitor) const {
  for (const auto& cluster : last_) {
    visitor.value(cluster.size());
    for (const LastSignal& last : cluster) visitor.value(last.shape);
  }
}

StallReason SignallingDescriptors::reason_of(std::uint64_t event, const hal::Descriptor& waiting) const {
  const std::size_t cluster = cluster_of(event), number = number_of(event);
  if (cluster >= last_.size() || number >= last_[cluster].size()) return {StallReason::kOrder};
  const LastSignal& last = last_[cluster][number];
  return last.given ? between(last.by, waiting) : StallReason{StallReason::kOrder};
}

StallReason SignallingDescriptors::between(const hal::Descriptor& from, const hal::Descriptor& waiting) const {
  const Operation by = operation_of(from);
  const Footprint giver = footprint_of(from), here = footprint_of(waiting);
  if (touch(giver, true, here, false)) {
    const bool load = by == kLoadOperation;
    return {StallReason::kOperand, by, load ? tag(from.operand[0].address) : std::uint8_t{0}};
  }
  if (touch(giver, false, here, true) || touch(giver, true, here, true)) return {StallReason::kSpace, by};
  return {StallReason::kOrder, by};
}

void StallAttribution::reset(std::uint64_t now) {
  unit_ = kIdle;
  front_ = {};
  since_ = now;
  pending_ = 0;
  lines_.clear();
}

void StallAttribution::add(const StallReason& cause, std::uint64_t cycles) {
  for (StallLine& line : lines_) {
    if (!(line.first == cause)) continue;
    line.second += cycles;
    return;
  }
  lines_.emplace_back(cause, cycles);
}

void StallAttribution::visit_state(sim::StateVisitor& visitor) {
  const auto reason = [&visitor](const StallReason& r) {
    visitor.value(r.kind | static_cast<std::uint64_t>(r.by) << 8 | std::uint64_t{r.tag} << 16);
  };
  visitor.value(unit_);
  reason(front_);
  if (unit_ != kBusy) visitor.since(since_);
  visitor.value(pending_);
  for (StallLine& line : lines_) {
    reason(line.first);
    visitor.sum(line.second);
  }
}

void StallAttribution::settle(std::uint64_t now) {
  const std::uint64_t cycles = now - since_;
  since_ = now;
  if (cycles == 0 || unit_ == kBusy) return;
  if (unit_ == kBlocked) {
    add({StallReason::kDrain}, cycles);
  } else if (front_.kind == StallReason::kPending) {
    pending_ += cycles;
  } else {
    add(front_, cycles);
  }
}

}  // namespace attnvp
