// Attention with scores in DRAM, for layers whose score rows do not fit into L1. C = Q K^T is stored in tiles of N_Q x
// N_KV scores, and O = P V loads P in such tiles with FP32 sums. Only softmax needs whole rows, N_P at a time, because
// the VEC engine processes rows one by one. The steps run one after the other on whole C and P, each with all of L1, or
// concurrently on consecutive row blocks. K and V are resident or streamed (KvBuffer).
#pragma once

#include "firmware/runtime/attention/kv_buffer.h"
#include "firmware/runtime/work.h"

namespace attnvp::firmware {

enum class Steps : std::uint8_t { kInTurn, kSideBySide };

// State shared by the steps: the work, its scores in DRAM and the pending stores.
class ScoreTiles {
 public:
  // `forwarded`: C and P bypass L1 between engines and DRAM.
  ScoreTiles(Runtime& rt, const ScoreTiling& tiling, Steps steps, bool forwarded = false);

  Runtime& rt() { return rt_; }
  const Work& work() const { return work_; }
  const ScoreTiling& tiling() const { return tiling_; }
  bool forwarded() const { return forwarded_; }
  uint32_t lanes() const { return lanes_; }
  uint32_t rows() const { return rows_; }  // of a row block's buffers
  uint32_t blocks() const;                 // tiles per row block
  uint32_t softmaxes() const;              // per row block
  Item item(const Work::Round& i, uint32_t lane) const { return work_.item(i, lane); }

  // Scores of the lane's n-th row block in DRAM. Side by side, they use a ring, and P replaces C.
  Matrix c_block(const Item& item, uint32_t n) const { return scores(rt_.layer().c, item, n); }
  Matrix p_block(const Item& item, uint32_t n) const { return rt_.in(scores(rt_.layer().p, item, n)); }
  // Side by side, per lane: a free ring entry; a row block's C in DRAM; its P in DRAM (its last part, because a DMA
  // channel's transfers complete in order). In turn: unused.
  Events place, c_there, p_there;

  // DMA channels of softmax. Side by side it uses its own channels if available, so that no transfer queues behind
  // tiles.
  uint32_t softmax_loads = 0, softmax_stores = 0;

  void store(uint32_t channel, Command copy);                                // `finish` waits for it
  void wait_for(const KvBuffer& kv) { stores_ += kv.tell_unread(stored_); }  // waits for all loads of the buffer
  void finish(uint64_t mark);  // stalls the processor and frees L1 down to `mark`

  static constexpr uint32_t kMaxLanes = 64;

 private:
  static constexpr uint32_t kRing = 3;  // row blocks in C, in softmax and in O
  Matrix scores(uint64_t tensor, const Item& item, uint32_t n) const;

  Runtime& rt_;
  const ScoreTiling tiling_;
  const Work work_;
  const bool forwarded_;
  uint32_t lanes_, rows_;
  uint64_t ring_ = 0;  // DRAM address; 0: whole tensors
  Events stored_;
  uint32_t stores_ = 0;  // issued since the last finish()
};

// L1 buffers of one kind: a ring of `count` buffers per lane.
class LaneBuffers {
 public:
  LaneBuffers(ScoreTiles& of, uint32_t count, uint64_t bytes, L1Region region);
  void take(uint32_t lane) { ++taken_[lane]; }
  // Dense matrix in the buffer taken last.
  Matrix block(const Item& item, uint32_t columns, hal::ElementType type = hal::ElementType::kFp16) const;

 private:
  uint64_t address_, bytes_;
  uint32_t count_;
  uint32_t taken_[ScoreTiles::kMaxLanes] = {};
};

// C_i = Q_i K^T, stored to DRAM tile by tile. Tiles are computed in order.
class CTiles {
 public:
  explicit CTiles(ScoreTiles& all);
  void tile(const Work::Round& i, uint32_t j);
  void end() { all_.wait_for(k_); }

 private:
  ScoreTiles& all_;
  KvBuffer k_;
  LaneBuffers q_, tiles_;
  Events q_ready_, q_free_, ready_, free_;
  uint32_t items_[ScoreTiles::kMaxLanes] = {};
};

// P_i = softmax(C_i), from DRAM to DRAM, N_P rows at a time, in order.
class SoftmaxRows {
 public:
  explicit SoftmaxRows(ScoreTiles& all);
  void rows(const Work::Round& i, uint32_t n);

 private:
  ScoreTiles& all_;
  LaneBuffers blocks_;
  Events loaded_, ready_, free_;
  uint32_t items_[ScoreTiles::kMaxLanes] = {};
};

// O_i (+)= P_i,j V_j, P from DRAM. The last tile stores O_i. Tiles are computed in order.
class OTiles {
 public:
  explicit OTiles(ScoreTiles& all);
  void tile(const Work::Round& i, uint32_t j);
  void end() { all_.wait_for(v_); }

 private:
  ScoreTiles& all_;
  KvBuffer v_;
  LaneBuffers tiles_, o_, sums_;
  Events ready_, free_, o_ready_, o_free_;
  uint32_t items_[ScoreTiles::kMaxLanes] = {};
};

}  // namespace attnvp::firmware
