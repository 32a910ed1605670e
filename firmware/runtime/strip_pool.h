// L1 space for strips of score rows beside tensors that come and go. Strips of one generation (a row block on its way
// from C to P and on) die together, so they share slots as large as a tensor: a slot that is empty again can take a
// tensor, whatever order things came in.
#pragma once

#include "firmware/runtime/arena.h"

namespace attnvp::firmware {

class StripPool {
 public:
  StripPool(Arena& arena, uint64_t strip_bytes, uint64_t tensor_bytes)
      : arena_(arena), strip_bytes_(strip_bytes), slot_bytes_(max(strip_bytes, tensor_bytes)) {}

  uint64_t slot_bytes() const { return slot_bytes_; }
  // 0 when there is no space.
  uint64_t allocate(uint32_t generation);
  void free(uint64_t strip);

 private:
  static constexpr uint32_t kMaxSlots = 1024;
  struct Slot {
    uint64_t address;  // 0: not in use
    uint32_t generation, capacity, taken, freed;
  };
  uint64_t open(uint32_t generation, uint64_t bytes);

  Arena& arena_;
  uint64_t strip_bytes_, slot_bytes_;
  Slot slots_[kMaxSlots] = {};
};

}  // namespace attnvp::firmware
