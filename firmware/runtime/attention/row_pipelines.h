// Orders of the operators of attention, with softmax of whole rows, over the row blocks of a cluster.
#pragma once

#include "firmware/runtime/attention/attention.h"
#include "firmware/runtime/loads.h"
#include "firmware/runtime/runtime.h"
#include "firmware/runtime/tiling.h"

namespace attnvp::firmware {

// MAC and VEC streams in parallel (MAS-Attention Algorithm 1): VEC engines compute softmax of one row block while MAC
// engines multiply for its neighbours. The pipeline runs across heads, so that it is filled and drained once.
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

// FLAT schedule: all three operators of a row block, then the next row block. One block of scores per core is in L1.
// `prefetch`: transfers overlap computation; otherwise they alternate with it.
void in_turn(Runtime& rt, const RowTiling& tiling, bool prefetch);

// Computes all of O = P V with P from DRAM. No other command may be in flight.
void o_from_dram(Runtime& rt, const Work& work, AttentionSteps& attention, const RowTiling& tiling,
                 const ScoreBlocks& scores);

// Fails if L1 cannot hold V, which replaces K.
void check_space_of_v(Runtime& rt, const Work& work, const RowTiling& tiling);

}  // namespace attnvp::firmware
