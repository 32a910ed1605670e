// Unfused attention where L1 does not hold as many whole rows of scores as the MAC array has. The matmuls need none:
// C = Q K^T leaves in tiles of N_Q x N_KV scores, and O = P V takes P in such tiles, its sums FP32 until the last one.
// Only softmax needs whole rows, N_P at a time; few will do, as VEC takes one after the other.
// K and V are resident or streamed (KvBuffer); every operator has all of L1.
#pragma once

#include "firmware/runtime/kv_buffer.h"
#include "firmware/runtime/tiling.h"
#include "firmware/runtime/work.h"

namespace attnvp::firmware {

// With the job's N_P or, where it gives none, the largest of up to N_Q rows of which three blocks fit (else two, one).
Choice find_score_tiles(Runtime& rt);
uint32_t softmax_blocks(const Runtime& rt, uint32_t np);  // of np rows that L1 has room for on every core, up to 3
uint64_t score_tiles_need(const Runtime& rt, const hal::Tiling& tiling);  // bytes of L1

class ScoreTiles {
 public:
  ScoreTiles(Runtime& rt, const hal::Tiling& tiling);

  // One after the other; each ends when all of its stores are done.
  void c_to_dram();    // C = Q K^T
  void softmax();      // P = softmax(C), from DRAM to DRAM
  void o_from_dram();  // O = P V

  static constexpr uint32_t kTiles = 3;  // per core: one at the MAC array, others on their way

 private:
  static constexpr uint32_t kMaxLanes = 64;
  // Buffers of one kind, `count` on every lane, which takes them in turn.
  struct Buffers {
    uint64_t address = 0, bytes = 0;
    uint32_t count = 0;
    uint32_t taken[kMaxLanes] = {};
    void take(uint32_t lane) { ++taken[lane]; }
    uint64_t now(uint32_t lane) const { return address + (uint64_t{lane} * count + (taken[lane] - 1) % count) * bytes; }
  };
  Buffers buffers(uint32_t count, uint64_t bytes, L1Region region);
  Item item(const Work::Round& i, uint32_t lane) const { return work_.item(i.group, i.round, lane); }
  Matrix block(const Buffers& of, const Item& item, uint32_t columns) const;  // dense, FP16
  void load_kv(KvBuffer& kv, const Work::Round& i, uint32_t j);
  void store(const Matrix& from, const Matrix& to, Events ready, Events free, const Item& item);
  void finish(uint64_t mark);

  Runtime& rt_;
  const hal::Tiling tiling_;
  const Work work_;
  uint32_t rows_;  // of a row block's buffers
  uint32_t lanes_;
  Events rows_ready_, q_free_, o_free_, tile_ready_, tiles_free_, stored_;
  uint32_t stores_ = 0;  // issued since the last finish()
};

}  // namespace attnvp::firmware
