// One-pass attention: tiles of keys are streamed once, and every query row keeps a running maximum and running sums.
// Source: FuseMax sections 4 and 5; LeanAttention's tiles use the same steps.
//
// A slab is the N_Q query rows of one command. A row block consists of the slabs whose sums are in L1 together
// (row_buffers per core, all cores of a cluster). All tiles of K and V (N_KV rows each) are streamed once per row
// block.
//
// A step combines a tile with a slab. Its first half computes scores and updates the running maxima; its second half
// computes the tile's sums and accumulates them. The halves are `lag` steps of a core apart, so that MAC and VEC
// engines overlap.
#pragma once

#include "firmware/runtime/attention/online.h"
#include "firmware/runtime/runtime.h"
#include "firmware/runtime/work.h"

namespace attnvp::firmware {

// Configuration of a schedule.
struct OnlinePlan {
  bool in_array = false;    // row operations on the PEs of the MAC array
  bool forwarded = false;   // sums of tiles bypass L1 between the array and the lanes
  bool serial = false;      // steps do not overlap; unscaled sums are rescaled separately
  uint32_t lag = 0;         // steps of a core between a step's halves
  uint32_t slots = 0;       // slabs of a core in L1: row_buffers in a row block, the others loaded ahead
  uint32_t slot_tiles = 0;  // resident tiles per slab in the array
  uint32_t kv_ring = 0;     // tiles of K, and of V, in L1
  uint32_t ring = 0;        // steps of a core in flight
  OnlineTiling tiling{};
};
// Derives the plan from the job's parameters and refuses contradictory ones.
OnlinePlan plan_online(Runtime& rt, bool in_array, bool serial);

class OnlineAttention {
 public:
  static constexpr uint32_t kMaxLag = 4;
  OnlineAttention(Runtime& rt, const OnlinePlan& plan);
  // Executes all row blocks of this cluster.
  void run();

 private:
  struct SlabStep {
    uint32_t number = 0;  // of the core
    uint32_t slab = 0;    // of the core; selects the slot
    uint32_t head = 0, block = 0, row = 0, rows = 0;
    uint32_t tile = 0, j = 0;  // running numbers: of the tile of K and V in this cluster, and of the slab's tile
    KeyBlocks::KeyPart keys;   // keys of the tile that the slab's rows attend to
    uint32_t key = 0;          // row of the first of those keys in the tile
    bool first = false, last = false;              // of the slab
    bool takes_tile = false, leaves_tile = false;  // the core's first and last step with the tile
    uint32_t begins = 0;                           // slabs that are available from now on; they arrive in order
  };
  struct OnlineCore {
    uint64_t slots = 0, tiles = 0, scores = 0;  // L1 addresses
    uint32_t steps = 0, slabs = 0, loaded = 0, begun = 0, stored = 0;
    uint32_t load_block = 0, load_index = 0;  // of the next slab to load: row block, index among the core's slabs in it
    SlabStep waiting[kMaxLag + 1];            // steps whose first half is done, oldest first
    uint32_t waiting_count = 0;
  };
  // Row blocks are numbered over all heads. Slabs of a row block are assigned to cores round-robin.
  uint32_t slabs_in(uint32_t block) const;
  uint32_t slabs_of(uint32_t core, uint32_t block) const;
  Item slab(uint32_t core, uint32_t block, uint32_t index) const;  // index-th slab of the core in that row block
  uint64_t scores_of(uint32_t block) const;                        // of a row block of one head
  struct TilePosition {  // position in the sequence of all row blocks' tiles, excluding tiles that no slab needs
    uint32_t block = 0, j = 0, number = 0;
  };
  bool needed(uint32_t block, uint32_t j) const;
  bool comes(const TilePosition& tile) const;  // false if an earlier row block of the head has loaded it
  TilePosition at_or_after(TilePosition tile) const;

#if ATTNVP_HETEROGENEOUS_CORES
  // rows_ holds the rows of a slab of each core; a core without rows has no slab.
  Item slab_of(uint32_t core, uint32_t block, uint32_t place) const;
#endif
  void load_tiles(uint32_t until, uint32_t head_now);
  void load_slabs(uint32_t core, uint32_t until);
  void step(uint32_t core, const TilePosition& tile, uint32_t index, bool takes_tile, bool leaves_tile);
  void steps(const TilePosition& tile);
  void give_back();  // releases a head's tiles
  void first_half_in_array(uint32_t core, const SlabStep& s);
  void first_half(uint32_t core, const SlabStep& s);
  void second_half(uint32_t core, const SlabStep& s);
  void end_slabs(uint32_t core, uint32_t block);
  void end_slab(uint32_t core, const SlabStep& s);
  void pass(uint32_t core);
  void drain(uint32_t core, uint32_t left);

  Sums running(uint32_t core, const SlabStep& s) const;
  Sums tile_sums(uint32_t core, const SlabStep& s) const;
  Matrix q_rows(uint32_t core, uint32_t slab, uint32_t rows) const;
  Matrix scores(uint32_t core, const SlabStep& s) const;
  Matrix kv_tile(uint64_t base, uint32_t tile, uint32_t rows, uint32_t emb) const;
  Matrix kv_tile(uint64_t base, const SlabStep& s, uint32_t emb) const;  // rows that the slab attends to
  uint32_t array_slot(const SlabStep& s) const { return s.number % (plan_.lag + 1) * plan_.slot_tiles; }

  Runtime& rt_;
  OnlinePlan plan_;
  KeyBlocks cut_;
  bool resident_ = false;  // a head's tiles stay in L1 until its last row block is done
#if ATTNVP_HETEROGENEOUS_CORES
  Window window_;
#endif
  RowBlocks rows_;
  uint32_t emb_, value_emb_, slabs_, slabs_per_block_, blocks_per_head_;
  uint32_t first_block_ = 0, last_block_ = 0;  // of this cluster, numbered over all heads
  uint64_t slab_bytes_ = 0, k_ = 0, v_ = 0;
  TilePosition loads_;                   // next tile to load
  uint32_t head_loading_ = 0xFFFF'FFFF;  // resident: head of the tiles
  static constexpr uint32_t kMaxCores = 64;
  OnlineCore core_[kMaxCores];
  Events q_ready_, slot_free_, k_ready_, v_ready_, k_free_, v_free_, scored_, maxed_, summed_, ring_free_, o_ready_,
      turn_, stored_;
  uint32_t stores_ = 0;
};

}  // namespace attnvp::firmware
