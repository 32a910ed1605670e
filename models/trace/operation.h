// What a descriptor does, by name: the one place where opcodes get names for waveforms, timelines and messages.
#pragma once

#include <cstdint>

#include "firmware/hal/descriptor.h"

namespace attnvp {

// The two matrix products are told apart, and the two directions of a copy, because that is what one looks for.
enum class Operation : std::uint8_t {
  kNone,
  kNop,
  kMatmulAbt,  // A.B^T, as in QK^T
  kMatmulAb,   // A.B, as in PV
  kSoftmax,
  kLoad,   // copy into an L1
  kStore,  // copy into DRAM
  kOnlineMax,
  kOnlineSoftmax,
  kScaleAdd,
  kDivide,
  kRescale,
  kScoreTile,
  kAttendTile,
  kNorm,
  kAdd,
  kActivate,
  kRotate,
  kUnknown,
};
// Indexed by Operation, ends with nullptr.
extern const char* const kOperationNames[];

Operation operation_of(const hal::Descriptor& descriptor);
inline const char* name_of(Operation operation) { return kOperationNames[static_cast<std::uint8_t>(operation)]; }

}  // namespace attnvp
