// Choosing tile sizes. What the job leaves at 0 is chosen so that the schedule fits into L1 and L0 and an estimate of
// its time (a roofline over MAC, VEC and DRAM) is least; what the job gives is kept or refused.
#pragma once

#include "firmware/runtime/runtime.h"

namespace attnvp::firmware {

// What a dataflow keeps in L1, and how much of its work overlaps.
struct Demand {
  uint32_t kv_tensors = 2;    // K and V, or one of them at a time
  uint32_t score_blocks = 1;  // blocks of N_Q x N scores per lane
  bool mac_vec_overlap = false;
  bool dram_overlap = true;
  bool score_tokens = false;  // score blocks are handed back by tokens, as more than one engine uses them in turn
  uint32_t dram_scores = 0;   // how often the scores cross the DRAM bus
  uint32_t lanes = 0;         // items in flight at a time; 0: one per lane
  bool single_kv = false;     // one head's K and V, resident, and nothing buffered twice
  uint32_t row_blocks = 0;    // per head; 0: as the estimate says
};

// The last blocks of O leave in this many strips, as nothing hides the last store.
constexpr uint32_t kLastStrips = 4;

// Buffers for blocks of O per core: more than for Q, so that stores can wait while loads are more urgent.
inline uint32_t o_buffers(const hal::Tiling& tiling) { return 2 * tiling.row_buffers; }

// Bytes of L1 that the schedule takes, as the dataflows allocate it.
uint64_t l1_need(const Runtime& rt, const hal::Tiling& tiling, const Demand& demand);

// Softmax takes longer than both matmuls on ideal engines, at heads as wide as they come (E = 128).
constexpr bool vec_bound(uint32_t mac_rows, uint32_t mac_columns, uint32_t softmax_rate_1024) {
  constexpr uint64_t kMacsPerScore = 2 * uint64_t{128};
  return uint64_t{mac_rows} * mac_columns * 1024 > kMacsPerScore * softmax_rate_1024;
}

// Fills in the L0 sub-tile m0, n0, k0.
void choose_l0(Runtime& rt, hal::Tiling& tiling);

struct Choice {
  bool fits = false;
  hal::Tiling tiling{};         // complete, if it fits
  uint64_t least_need = ~0ULL;  // bytes of L1 of the smallest that was considered
  uint64_t cycles = ~0ULL;      // its estimate
};
// A failure other than L1's size is in the runtime's status.
Choice find_tiling(Runtime& rt, const Demand& demand);
// The complete tiling; on failure the runtime's status says why.
hal::Tiling choose_tiling(Runtime& rt, const Demand& demand);

// What `find_tiling` begins with: what the job gives, checked against the layer, and the L0 sub-tile. False: refused.
bool begin_tiling(Runtime& rt, hal::Tiling& tiling);
// Heads at a time so that every core has a row block.
uint32_t heads_together(const Runtime& rt);

}  // namespace attnvp::firmware
