// Dynamic allocator for L1 space (addresses and sizes in bytes): first fit; adjacent free blocks merge.
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

}  // namespace attnvp::firmware
