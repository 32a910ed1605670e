// Checks that a region is within a scratchpad of `bytes` bytes at `base`.
#pragma once

#include "models/interconnect/bus/stream.h"

namespace attnvp {

inline FaultCode check_region(const Region& r, std::uint64_t base, std::uint64_t bytes) {
  if (r.rows == 0 || r.row_bytes == 0) return FaultCode::kZeroSize;
  if (r.rows > 1 && r.row_stride < r.row_bytes) return FaultCode::kBadOperand;
  if (r.address < base || r.address >= base + bytes) return FaultCode::kUnmapped;
  if (r.end() > base + bytes) return FaultCode::kOutOfRange;
  return FaultCode::kNone;
}

}  // namespace attnvp
