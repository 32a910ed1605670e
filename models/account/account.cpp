#include "models/account/account.h"

#include <algorithm>
#include <array>

#include "models/bus/stream.h"

namespace attnvp {

namespace {

// Which operands an operation reads and writes, one bit each.
struct Roles {
  unsigned reads, writes;
};
Roles roles_of(const hal::Descriptor& d) {
  switch (d.opcode) {
    case hal::Opcode::kMatmul:
      return {(d.flags & hal::kAccumulate) != 0 || hal::has_addends(d) ? 0b1011U : 0b0011U, 0b0100};
    case hal::Opcode::kSoftmax:
    case hal::Opcode::kCopy:
      return {0b0001, 0b0010};
    case hal::Opcode::kOnlineMax:
      return {0b0011, 0b1100};
    case hal::Opcode::kOnlineSoftmax:
      return {0b0101, 0b1110};
    case hal::Opcode::kScaleAdd:
    case hal::Opcode::kRescale:
      return {0b0111, 0b0001};
    case hal::Opcode::kDivide:
      return {0b0101, 0b0010};
    case hal::Opcode::kScoreTile:
    case hal::Opcode::kAttendTile:
      return {hal::has_addends(d) ? 0b1011U : 0b0011U, 0b0100};
    case hal::Opcode::kNorm:
    case hal::Opcode::kAdd:
    case hal::Opcode::kActivate:
    case hal::Opcode::kRotate:
      return {0b1101, 0b0010};
    case hal::Opcode::kNop:
      break;
  }
  return {0, 0};
}

// Rows of operand i: a product's second one has rows of its own, vectors are one row.
std::uint64_t rows_of(const hal::Descriptor& d, int i) {
  if (d.opcode == hal::Opcode::kCopy) {
    const std::uint64_t planes = std::max(d.tail.copy.planes, 1U);
    const std::uint64_t stride = std::max(d.operand[i].row_stride, 1U);
    return d.rows + (planes - 1) * d.tail.copy.plane_stride[i] / stride;
  }
  if (d.opcode == hal::Opcode::kNorm && i >= 2) return 1;
  const bool product =
      d.opcode == hal::Opcode::kMatmul || d.opcode == hal::Opcode::kScoreTile || d.opcode == hal::Opcode::kAttendTile;
  if (!product || i != 1) return d.rows;
  const hal::Product p = hal::product_of(d);
  const bool transposed = d.opcode == hal::Opcode::kScoreTile || (d.flags & hal::kTransposeB) != 0;
  return transposed ? p.n : p.k;
}

// What a descriptor reads and writes, as far as its operands tell.
struct Footprint {
  std::array<Region, hal::kOperands> region{};
  int regions = 0;
};

Footprint footprint_of(const hal::Descriptor& d) {
  Footprint f;
  const Roles roles = roles_of(d);
  for (int i = 0; i < hal::kOperands; ++i) {
    if (((roles.reads | roles.writes) & 1U << i) == 0) continue;
    const hal::Operand& o = d.operand[i];
    f.region[static_cast<std::size_t>(f.regions++)] = {
        o.address, rows_of(d, i), d.row_bytes(i), o.row_stride, 0, (roles.writes & 1U << i) != 0};
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

std::uint8_t Givers::tag(std::uint64_t address) const {
  for (const Range& r : ranges) {
    if (address >= r.begin && address < r.end) return r.tag;
  }
  return 0;
}

Cause Givers::cause(std::uint64_t event, const hal::Descriptor& waiting) const {
  const std::size_t cluster = cluster_of(event), number = number_of(event);
  if (cluster >= last_.size() || number >= last_[cluster].size()) return {Cause::kOrder};
  const Last& last = last_[cluster][number];
  return last.given ? between(last.by, waiting) : Cause{Cause::kOrder};
}

Cause Givers::between(const hal::Descriptor& from, const hal::Descriptor& waiting) const {
  const Operation by = operation_of(from);
  const Footprint giver = footprint_of(from), here = footprint_of(waiting);
  if (touch(giver, true, here, false)) {
    const bool load = by == Operation::kLoad;
    return {Cause::kOperand, by, load ? tag(from.operand[0].address) : std::uint8_t{0}};
  }
  if (touch(giver, false, here, true) || touch(giver, true, here, true)) return {Cause::kSpace, by};
  return {Cause::kOrder, by};
}

void Account::reset(std::uint64_t now) {
  unit_ = kIdle;
  front_ = {};
  since_ = now;
  pending_ = 0;
  lines_.clear();
}

void Account::add(const Cause& cause, std::uint64_t cycles) {
  for (Line& line : lines_) {
    if (!(line.first == cause)) continue;
    line.second += cycles;
    return;
  }
  lines_.emplace_back(cause, cycles);
}

void Account::settle(std::uint64_t now) {
  const std::uint64_t cycles = now - since_;
  since_ = now;
  if (cycles == 0 || unit_ == kBusy) return;
  if (unit_ == kBlocked) {
    add({Cause::kDrain}, cycles);
  } else if (front_.kind == Cause::kPending) {
    pending_ += cycles;
  } else {
    add(front_, cycles);
  }
}

}  // namespace attnvp
