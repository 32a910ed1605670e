// Dynamic allocators for L1 space (addresses and sizes in bytes): first fit, where adjacent free blocks merge, and a
// pool of score rows above it.
#pragma once

#include "firmware/runtime/runtime.h"

namespace attnvp::firmware {

class Arena {
 public:
  explicit Arena(Runtime& rt) : rt_(rt) {}

  // Returns 0 if no gap is large enough, without setting a failure status.
  uint64_t allocate(uint64_t bytes, L1Region region);
  void free(uint64_t address);
  uint64_t used() const { return used_; }

 private:
  static constexpr uint32_t kMaxBlocks = 1024;
  struct ArenaBlock {
    uint64_t offset, bytes;
    L1Region region;
  };
  Runtime& rt_;
  ArenaBlock blocks_[kMaxBlocks];  // allocated blocks, sorted by offset
  uint32_t count_ = 0;
  uint64_t used_ = 0;
};

// L1 allocator for strips of score rows beside tensors. Strips of one generation (a row block from C to P) are freed
// together and therefore share slots of tensor size. A slot that becomes empty can hold a tensor again, which avoids
// fragmentation.

class StripPool {
 public:
  StripPool(Arena& arena, uint64_t strip_bytes, uint64_t tensor_bytes)
      : arena_(arena), strip_bytes_(strip_bytes), slot_bytes_(max(strip_bytes, tensor_bytes)) {}

  uint64_t slot_bytes() const { return slot_bytes_; }
  // Returns 0 if there is no space.
  uint64_t allocate(uint32_t generation);
  void free(uint64_t strip);

 private:
  static constexpr uint32_t kMaxSlots = 1024;
  struct StripSlot {
    uint64_t address;  // 0: unused
    uint32_t generation, capacity, taken, freed;
  };
  uint64_t open(uint32_t generation, uint64_t bytes);

  Arena& arena_;
  uint64_t strip_bytes_, slot_bytes_;
  StripSlot slots_[kMaxSlots] = {};
};

}  // namespace attnvp::firmware
