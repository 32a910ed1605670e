// Copies of DMA controllers: the check of a descriptor and its division into bursts.
#pragma once

#include <algorithm>
#include <cstdint>

#include "firmware/hal/descriptor.h"
#include "models/engine/descriptor_check.h"
#include "models/interconnect/address_map.h"
#include "models/interconnect/bus/stream.h"

namespace attnvp {

struct Burst {
  std::uint64_t source = 0;
  std::uint64_t destination = 0;
  std::uint64_t bytes = 0;
  bool last = false;
};

// True if source and destination of a copy share a byte. Linear in the number of planes where their extents overlap. No
// stride may be shorter than the extent it steps over.
bool overlaps_itself(const hal::Descriptor& descriptor);

// Division of a copy descriptor into bursts: contiguous runs are merged, then cut at the burst length (bytes).
class Transfer {
 public:
  Transfer() = default;
  // The descriptor must describe at least one byte.
  Transfer(const hal::Descriptor& descriptor, std::uint64_t burst_bytes);

  std::uint64_t bursts() const { return (row_bytes_ + burst_bytes_ - 1) / burst_bytes_ * rows_ * planes_; }
  bool done() const { return plane_ == planes_; }
  // Inline: a burst is some 10 ns of host time otherwise.
  Burst next() {
    const std::uint64_t at = offset_;
    Burst burst;
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
  void visit_state(sim::StateVisitor& visitor) const {
    for (const std::uint64_t n : {plane_, row_, offset_}) visitor.value(n);
  }

 private:
  std::uint64_t burst_bytes_ = 0;
  std::uint64_t row_bytes_ = 0, rows_ = 0, planes_ = 0;
  struct TransferSide {
    std::uint64_t address = 0, row_stride = 0, plane_stride = 0;
  };
  TransferSide source_, destination_;
  std::uint64_t plane_ = 0, row_ = 0, offset_ = 0;
};

std::uint64_t copy_bytes(const hal::Descriptor& descriptor);
std::uint64_t copy_bursts(const hal::Descriptor& descriptor, std::uint64_t burst_bytes);

// Check of a copy descriptor: its shape, and that both sides are within memories of the address map. With kForwarded
// (an engine's result that bypasses L1) the copy must leave the cluster's own L1.
Refusal check_copy(const hal::Descriptor& descriptor, const AddressMap& map, std::uint64_t own_l1);

}  // namespace attnvp
