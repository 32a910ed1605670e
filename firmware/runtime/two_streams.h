// The MAC and the VEC stream side by side (MAS-Attention Algorithm 1): softmax of one row block on VEC while MAC
// multiplies for the blocks around it. The two go on across heads; they are filled once and drained once.
#pragma once

#include "firmware/runtime/attention.h"
#include "firmware/runtime/loads.h"

namespace attnvp::firmware {

class TwoStreams {
 public:
  TwoStreams(Runtime& rt, const Work& work, const RowTiling& tiling) : TwoStreams(rt, work, tiling, {rt.cores(), 0}) {}
  // Where lanes give C to one core's array and O to another's, each lane has both cores' lanes for its softmax.
  TwoStreams(Runtime& rt, const Work& work, const RowTiling& tiling, const Lanes& lanes);
  void run();

 private:
  Runtime& rt_;
  const Work& work_;
  Attention attention_;
  KvBuffer k_;
  KvBuffer v_;
  Loads loads_;
};

}  // namespace attnvp::firmware
