// The MAC and the VEC stream side by side (MAS-Attention Algorithm 1): softmax of one row block on VEC while MAC
// multiplies for the blocks around it. The two go on across heads; they are filled once and drained once.
#pragma once

#include "firmware/runtime/attention.h"
#include "firmware/runtime/loads.h"

namespace attnvp::firmware {

class TwoStreams {
 public:
  TwoStreams(Runtime& rt, const Work& work, const RowTiling& tiling);
  void run();

 private:
  bool begin();
  Runtime& rt_;
  const Work& work_;
  Attention attention_;
  KvBuffer k_;
  bool begun_;
  KvBuffer v_;
  Loads loads_;
};

}  // namespace attnvp::firmware
