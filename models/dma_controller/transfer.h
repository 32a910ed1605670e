// One copy descriptor, walked burst by burst: contiguous runs are merged, then cut at the burst length.
#pragma once

#include <cstdint>

#include "firmware/hal/descriptor.h"
#include "models/bus/stream.h"

namespace attnvp {

struct Burst {
  std::uint64_t source = 0;
  std::uint64_t destination = 0;
  std::uint64_t bytes = 0;
  bool last = false;
};

class Transfer {
 public:
  Transfer() = default;
  // The descriptor must describe at least one byte.
  Transfer(const hal::Descriptor& descriptor, std::uint64_t burst_bytes);

  bool done() const { return plane_ == planes_; }
  Burst next();

 private:
  std::uint64_t burst_bytes_ = 0;
  std::uint64_t row_bytes_ = 0, rows_ = 0, planes_ = 0;
  hal::Operand source_{}, destination_{};
  std::uint64_t plane_ = 0, row_ = 0, offset_ = 0;
};

}  // namespace attnvp
