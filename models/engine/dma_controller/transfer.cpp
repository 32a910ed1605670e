#include "models/engine/dma_controller/transfer.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/interconnect/bus/stream.h"

namespace attnvp {

Transfer::Transfer(const hal::Descriptor& d, std::uint64_t burst_bytes)
    : burst_bytes_(burst_bytes),
      row_bytes_(d.row_bytes(0)),
      rows_(d.rows),
      planes_(d.tail.copy.planes),
      source_{d.operand[0].address, d.operand[0].row_stride, d.tail.copy.plane_stride[0]},
      destination_{d.operand[1].address, d.operand[1].row_stride, d.tail.copy.plane_stride[1]} {
  const auto merge = [this](std::uint64_t& count, std::uint64_t TransferSide::*stride) {
    if (count > 1 && (source_.*stride != row_bytes_ || destination_.*stride != row_bytes_)) return;
    row_bytes_ *= count;
    count = 1;
  };
  merge(rows_, &TransferSide::row_stride);
  if (rows_ == 1) merge(planes_, &TransferSide::plane_stride);
}

bool overlaps_itself(const hal::Descriptor& d) {
  const std::uint64_t planes = d.tail.copy.planes;
  const auto plane = [&](int side, std::uint64_t i) {
    const hal::Operand& o = d.operand[side];
    return Region{o.address + i * d.tail.copy.plane_stride[side], d.rows, d.row_bytes(side), o.row_stride};
  };
  const auto extent = [&](int side) {
    const std::uint64_t address = d.operand[side].address;
    return Region{address, 1, plane(side, planes - 1).end() - address};
  };
  if (!overlap(extent(0), extent(1))) return false;
  // Planes of one side are disjoint and sorted, so that both sides are scanned together.
  for (std::uint64_t i = 0, j = 0; i < planes && j < planes;) {
    const Region a = plane(0, i), b = plane(1, j);
    if (overlap(a, b)) return true;
    a.end() <= b.end() ? ++i : ++j;
  }
  return false;
}

std::uint64_t copy_bytes(const hal::Descriptor& d) { return d.row_bytes(0) * d.rows * d.tail.copy.planes; }

std::uint64_t copy_bursts(const hal::Descriptor& d, std::uint64_t burst_bytes) {
  return Transfer(d, burst_bytes).bursts();
}

Refusal check_copy(const hal::Descriptor& d, const AddressMap& map, std::uint64_t own_l1) {
  const std::uint64_t row_bytes = d.row_bytes(0), rows = d.rows, planes = d.tail.copy.planes;
  if (hal::element_bits(d.type[0]) == 0 || d.type[1] != d.type[0]) {
    return {FaultCode::kBadType, d.operand[0].address,
            fmt::format("copy from {} to {}: both sides must be of one known type", name_of(d.type[0]),
                        name_of(d.type[1]))};
  }
  // The text is built for refusals only.
  const auto shape = [&] { return fmt::format("copy of {} planes of {} rows of {} bytes", planes, rows, row_bytes); };
  if (row_bytes == 0 || rows == 0 || planes == 0) return {FaultCode::kZeroSize, d.operand[0].address, shape()};
  if (planes > 1) {
    Refusal refusal = check_length(d, offsetof(hal::Descriptor, tail) + sizeof(hal::CopyTail));
    if (refusal.any()) return refusal;
  }
  if (Refusal refusal = check_operand(d, 1, d.operand[0].columns, {d.type[0]}); refusal.any()) return refusal;

  for (int i = 0; i < 2; ++i) {
    const hal::Operand& o = d.operand[i];
    const std::uint64_t plane_stride = d.tail.copy.plane_stride[i];
    const char* const which = i == 0 ? "source" : "destination";
    const bool wide = hal::element_bytes(d.type[0]) > 1;
    if (wide && ((o.address | row_bytes | (rows > 1 ? o.row_stride : 0) | (planes > 1 ? plane_stride : 0)) & 1) != 0) {
      return {FaultCode::kMisaligned, o.address,
              fmt::format("{}: {} addresses, strides and lengths must be even", shape(), which)};
    }
    const std::uint64_t plane_bytes = (rows - 1) * o.row_stride + row_bytes;
    if ((rows > 1 && o.row_stride < row_bytes) || (planes > 1 && plane_stride < plane_bytes)) {
      return {FaultCode::kBadOperand, o.address,
              fmt::format("{}: the {}'s stride is shorter than what it strides over", shape(), which)};
    }
    const int found = map.find(o.address);
    if (found < 0 || !map.range(found).memory) {
      return {FaultCode::kUnmapped, o.address,
              fmt::format("{}: the {} is in no memory of the address map", shape(), which)};
    }
    const AddressRange& memory = map.range(found);
    const std::uint64_t end = Region{o.address, planes, plane_bytes, plane_stride}.end();
    if (end > memory.end()) {
      return {
          FaultCode::kOutOfRange, o.address,
          fmt::format("{}: the {} ends at {:#x}, {} ends at {:#x}", shape(), which, end, memory.name, memory.end())};
    }
  }
  const auto own = [&](int side) { return map.find(d.operand[side].address) == map.find(own_l1); };
  if ((d.flags & hal::kForwarded) != 0 && (!own(0) || own(1))) {
    return {FaultCode::kBadOperand, d.operand[0].address,
            fmt::format("{}: only what leaves its cluster's L1 can be an engine's result that passes L1 by", shape())};
  }
  if (overlaps_itself(d)) {
    return {FaultCode::kOverlap, d.operand[1].address,
            fmt::format("{}: source and destination must lie apart", shape())};
  }
  return {};
}

}  // namespace attnvp
