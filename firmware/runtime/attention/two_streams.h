// MAC and VEC streams in parallel (MAS-Attention Algorithm 1): VEC engines compute softmax of one row block while MAC
// engines multiply for its neighbours. The pipeline runs across heads, so that it is filled and drained once.
#pragma once

#include "firmware/runtime/attention/attention.h"
#include "firmware/runtime/loads.h"

namespace attnvp::firmware {

class TwoStreams {
 public:
  TwoStreams(Runtime& rt, const Work& work, const RowTiling& tiling) : TwoStreams(rt, work, tiling, {rt.cores(), 0}) {}
  // If a lane computes C and O on different cores, the VEC engines of both cores share its softmax.
  TwoStreams(Runtime& rt, const Work& work, const RowTiling& tiling, const Lanes& lanes);
  void run();

 private:
  Runtime& rt_;
  const Work& work_;
  AttentionSteps attention_;
  KvBuffer k_;
  KvBuffer v_;
  Loads loads_;
};

}  // namespace attnvp::firmware
