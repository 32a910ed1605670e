// Common parts of programs for plain matmuls and other single steps of a layer: parameters, options, L1 buffers and
// work dispatch.
#pragma once

#include "firmware/hal/dispatch.h"
#include "firmware/runtime/dataflow.h"
#include "firmware/runtime/runtime.h"

namespace attnvp::firmware {

struct GemmTiling {
  uint32_t nq, nkv, kd;  // rows of A, rows of B (columns of the result), depth loaded at a time
  L0Tile l0;
  uint32_t ring;  // buffers of the streamed operand
};
extern const Parameter* const kGemmParameters[];

// Options of single steps, and the dispatch calls to the machine (hal/dispatch.h).
inline constexpr const char* kStepKernels[] = {"0", "1", "2", "3", nullptr};
inline constexpr DataflowOption kStepKernelsOption = {"kernels", kStepKernels, "kernels that are launched besides"};
extern const DataflowOption kStepOptions[];  // that one only
inline void dispatch(Runtime& rt, uint32_t what) { rt.write(hal::kDispatchAddress, &what, sizeof what); }
void launch(Runtime& rt);               // additional kernel launches
void check_step_channels(Runtime& rt);  // loads and stores need one channel each

// `slots` L1 blocks of rows x columns per core.
struct Buffers {
  uint64_t base = 0;
  uint32_t slots = 1, rows = 0, columns = 0, bytes = kHalfBytes;
  void make(Runtime& rt, L1Region region) { base = rt.allocate(slots * slot_bytes(), region); }
  uint64_t slot_bytes() const { return round_up(uint64_t{rows} * columns * bytes, uint64_t{64}); }
  Matrix of(uint32_t n, uint32_t rows_there, uint32_t columns_there) const {
    const auto type = bytes == kHalfBytes ? hal::ElementType::kFp16 : hal::ElementType::kFp32;
    return {base + n % slots * slot_bytes(), rows_there, columns_there, columns * bytes, type};
  }
};

}  // namespace attnvp::firmware
