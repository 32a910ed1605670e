#include "models/dma_controller/transfer.h"

#include <algorithm>

namespace attnvp {

Transfer::Transfer(const hal::Descriptor& d, std::uint64_t burst_bytes)
    : burst_bytes_(burst_bytes),
      row_bytes_(d.dims[0]),
      rows_(d.dims[1]),
      planes_(d.dims[2]),
      source_(d.operand[0]),
      destination_(d.operand[1]) {
  const auto merge = [this](std::uint64_t& count, std::uint32_t hal::Operand::*stride) {
    if (count > 1 && (source_.*stride != row_bytes_ || destination_.*stride != row_bytes_)) return;
    row_bytes_ *= count;
    count = 1;
  };
  merge(rows_, &hal::Operand::row_stride);
  if (rows_ == 1) merge(planes_, &hal::Operand::plane_stride);
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

}  // namespace attnvp
