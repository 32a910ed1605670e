#include "models/engine/dma_controller/transfer.h"

#include <algorithm>

namespace attnvp {

Transfer::Transfer(const hal::Descriptor& d, std::uint64_t burst_bytes)
    : burst_bytes_(burst_bytes),
      row_bytes_(d.row_bytes(0)),
      rows_(d.rows),
      planes_(d.tail.copy.planes),
      source_{d.operand[0].address, d.operand[0].row_stride, d.tail.copy.plane_stride[0]},
      destination_{d.operand[1].address, d.operand[1].row_stride, d.tail.copy.plane_stride[1]} {
  const auto merge = [this](std::uint64_t& count, std::uint64_t Side::*stride) {
    if (count > 1 && (source_.*stride != row_bytes_ || destination_.*stride != row_bytes_)) return;
    row_bytes_ *= count;
    count = 1;
  };
  merge(rows_, &Side::row_stride);
  if (rows_ == 1) merge(planes_, &Side::plane_stride);
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

bool Transfer::at_last() const {
  return plane_ + 1 == planes_ && row_ + 1 == rows_ && row_bytes_ - offset_ <= burst_bytes_;
}

Burst Transfer::next() {
  Burst burst;
  const std::uint64_t at = offset_;
  burst.source = source_.address + plane_ * source_.plane_stride + row_ * source_.row_stride + at;
  burst.destination = destination_.address + plane_ * destination_.plane_stride + row_ * destination_.row_stride + at;
  burst.bytes = std::min(burst_bytes_, row_bytes_ - at);
  offset_ += burst.bytes;
  if (offset_ == row_bytes_) {
    offset_ = 0;
    if (++row_ == rows_) {
      row_ = 0;
      ++plane_;
    }
  }
  burst.last = done();
  return burst;
}

std::uint64_t copy_bytes(const hal::Descriptor& d) { return d.row_bytes(0) * d.rows * d.tail.copy.planes; }

std::uint64_t copy_bursts(const hal::Descriptor& d, std::uint64_t burst_bytes) {
  return Transfer(d, burst_bytes).bursts();
}

}  // namespace attnvp
