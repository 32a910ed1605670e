// L1 space that comes and goes while a schedule runs: first fit, neighbours merge when freed.
#pragma once

#include "firmware/runtime/runtime.h"

namespace attnvp::firmware {

class Arena {
 public:
  explicit Arena(Runtime& rt) : rt_(rt) {}

  // 0 when no gap is large enough; that is an answer, not a failure.
  uint64_t allocate(uint64_t bytes, L1Region region);
  void free(uint64_t address);
  uint64_t used() const { return used_; }

 private:
  static constexpr uint32_t kMaxBlocks = 1024;
  struct Block {
    uint64_t offset, bytes;
    L1Region region;
  };
  Runtime& rt_;
  Block blocks_[kMaxBlocks];  // allocated ones, by offset
  uint32_t count_ = 0;
  uint64_t used_ = 0;
};

}  // namespace attnvp::firmware
