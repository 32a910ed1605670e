// Attention where L1 does not hold as many whole rows of scores as the MAC array has. The matmuls need none:
// C = Q K^T leaves in tiles of N_Q x N_KV scores, and O = P V takes P in such tiles, its sums FP32 until the last one.
// Only softmax needs whole rows, N_P at a time; few will do, as VEC takes one after the other. C and P are in DRAM.
// The steps run in turn, each with all of L1, on whole C and P; or side by side, on row blocks that follow each other.
// K and V are resident or streamed (KvBuffer).
#pragma once

#include "firmware/runtime/kv_buffer.h"
#include "firmware/runtime/work.h"

namespace attnvp::firmware {

enum class Steps : std::uint8_t { kInTurn, kSideBySide };

// What the steps share: the work, where its scores are, what is on its way to DRAM.
class ScoreTiles {
 public:
  // Forwarded: C and P go from the engines to DRAM past L1.
  ScoreTiles(Runtime& rt, const ScoreTiling& tiling, Steps steps, bool forwarded = false);

  Runtime& rt() { return rt_; }
  const Work& work() const { return work_; }
  const ScoreTiling& tiling() const { return tiling_; }
  bool forwarded() const { return forwarded_; }
  uint32_t lanes() const { return lanes_; }
  uint32_t rows() const { return rows_; }  // of a row block's buffers
  uint32_t blocks() const;                 // tiles of a row block
  uint32_t softmaxes() const;              // of a row block
  Item item(const Work::Round& i, uint32_t lane) const { return work_.item(i, lane); }

  // A row block's scores in DRAM, the lane's n-th. Side by side they take turns in a ring, P in C's place.
  Matrix c_block(const Item& item, uint32_t n) const { return scores(rt_.layer().c, item, n); }
  Matrix p_block(const Item& item, uint32_t n) const { return rt_.in(scores(rt_.layer().p, item, n)); }
  // Side by side: of each lane; a place in the ring, a row block's C in DRAM, its P in DRAM (the last part of it, as a
  // DMA channel's transfers end in order). In turn: none.
  Events place, c_there, p_there;

  // DMA channels of softmax: side by side its own, where there are enough, so that nothing waits behind tiles.
  uint32_t softmax_loads = 0, softmax_stores = 0;

  void store(uint32_t channel, Command copy);                                // which `finish` waits for
  void wait_for(const KvBuffer& kv) { stores_ += kv.tell_unread(stored_); }  // all of its loads: likewise
  void finish(uint64_t mark);  // the processor waits; L1 is as it was at `mark`

  static constexpr uint32_t kMaxLanes = 64;

 private:
  static constexpr uint32_t kRing = 3;  // row blocks: in C, in softmax, in O
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

// L1 buffers of one kind, `count` on every lane, which takes them in turn.
class LaneBuffers {
 public:
  LaneBuffers(ScoreTiles& of, uint32_t count, uint64_t bytes, L1Region region);
  void take(uint32_t lane) { ++taken_[lane]; }
  // Dense; in the buffer taken last.
  Matrix block(const Item& item, uint32_t columns, hal::ElementType type = hal::ElementType::kFp16) const;

 private:
  uint64_t address_, bytes_;
  uint32_t count_;
  uint32_t taken_[ScoreTiles::kMaxLanes] = {};
};

// C_i = Q_i K^T, tile j of it, to DRAM. Tiles in order.
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

// P_i = softmax(C_i), the n-th N_P rows of it, from DRAM to DRAM. In order.
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

// O_i (+)= P_i,j V_j, P from DRAM; with the last tile stores O_i. Tiles in order.
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
