// One-pass attention: tiles of keys go by once, and every query row keeps a running maximum and running sums.
//
// A slab is as many query rows as one command works on (N_Q); a row block is the slabs of all cores of a cluster whose
// sums are in L1 together (row_buffers per core). For every row block all of K and V goes by, tile by tile (N_KV rows),
// and each tile meets every slab: one step. A step's first half makes the scores and brings the running maxima up to
// date, its second half makes the tile's sums and adds them to the running ones; `lag` steps of a core lie between
// them, so that the MAC and the VEC engine need not wait for each other. FuseMax sections 4 and 5; LeanAttention's
// tiles are the same steps.
#pragma once

#include "firmware/runtime/online.h"
#include "firmware/runtime/runtime.h"
#include "firmware/runtime/work.h"

namespace attnvp::firmware {

// How a schedule goes about it.
struct OnlinePlan {
  bool in_array = false;    // row operations on the MAC array's own PEs
  bool forwarded = false;   // tiles' sums pass from the array to the lanes, not by way of L1
  bool serial = false;      // one step after the other, and unscaled sums scaled on the side
  uint32_t lag = 0;         // steps of a core between its two halves
  uint32_t slots = 0;       // slabs of a core in L1: row_buffers of them in a row block, the others ahead
  uint32_t slot_tiles = 0;  // resident tiles that a slab takes in the array
  uint32_t kv_ring = 0;     // tiles of K, and of V, in L1
  uint32_t ring = 0;        // steps of a core under way
  OnlineTiling tiling{};
};
// From the job's parameters; what does not go together is refused.
OnlinePlan plan_online(Runtime& rt, bool in_array, bool serial);

class OnlineAttention {
 public:
  static constexpr uint32_t kMaxLag = 4;
  OnlineAttention(Runtime& rt, const OnlinePlan& plan);
  // All of this cluster's row blocks.
  void run();

 private:
  struct Step {
    uint32_t number = 0;  // of the core
    uint32_t slab = 0;    // of the core: picks the slot
    uint32_t head = 0, block = 0, row = 0, rows = 0;
    uint32_t tile = 0, j = 0;          // tile of K and V of this cluster, counted on; the slab's, counted on
    KeyBlocks::Part keys;              // of the tile that the slab's rows attend to,
    uint32_t key = 0;                  //   and its first row in the tile
    bool first = false, last = false;  // of the slab
    bool takes_tile = false, leaves_tile = false;  // the core's first and last step with it
    uint32_t begins = 0;                           // slabs that are there from now on, as they come in order
  };
  struct Core {
    uint64_t slots = 0, tiles = 0, scores = 0;  // L1 addresses
    uint32_t steps = 0, slabs = 0, loaded = 0, begun = 0, stored = 0;
    uint32_t load_block = 0, load_index = 0;  // of the next slab to be loaded: row block, place among the core's in it
    Step waiting[kMaxLag + 1];                // first halves done, oldest first
    uint32_t waiting_count = 0;
  };
  // Row blocks are counted over all heads. Slabs of one go to the cores in turn.
  uint32_t slabs_in(uint32_t block) const;
  uint32_t slabs_of(uint32_t core, uint32_t block) const;
  Item slab(uint32_t core, uint32_t block, uint32_t index) const;  // the core's index-th in that row block
  uint64_t scores_of(uint32_t block) const;                        // of a row block of one head
  struct Tile {  // of the walk over all row blocks' tiles, without those that no slab needs
    uint32_t block = 0, j = 0, number = 0;
  };
  bool needed(uint32_t block, uint32_t j) const;
  bool comes(const Tile& tile) const;  // rather than being there since an earlier row block of the head
  Tile at_or_after(Tile tile) const;

#if ATTNVP_HETEROGENEOUS_CORES
  // Of heterogeneous cores rows_ has the rows of a slab of each core; a core without any of these has no slab.
  Item slab_of(uint32_t core, uint32_t block, uint32_t place) const;
#endif
  void load_tiles(uint32_t until, uint32_t head_now);
  void load_slabs(uint32_t core, uint32_t until);
  void step(uint32_t core, const Tile& tile, uint32_t index, bool takes_tile, bool leaves_tile);
  void steps(const Tile& tile);
  void give_back();  // a head's tiles
  void first_half_in_array(uint32_t core, const Step& s);
  void first_half(uint32_t core, const Step& s);
  void second_half(uint32_t core, const Step& s);
  void end_slabs(uint32_t core, uint32_t block);
  void end_slab(uint32_t core, const Step& s);
  void pass(uint32_t core);
  void drain(uint32_t core, uint32_t left);

  Sums running(uint32_t core, const Step& s) const;
  Sums tile_sums(uint32_t core, const Step& s) const;
  Matrix q_rows(uint32_t core, uint32_t slab, uint32_t rows) const;
  Matrix scores(uint32_t core, const Step& s) const;
  Matrix kv_tile(uint64_t base, uint32_t tile, uint32_t rows, uint32_t emb) const;
  Matrix kv_tile(uint64_t base, const Step& s, uint32_t emb) const;  // the rows that the slab attends to
  uint32_t array_slot(const Step& s) const { return s.number % (plan_.lag + 1) * plan_.slot_tiles; }

  Runtime& rt_;
  OnlinePlan plan_;
  KeyBlocks cut_;
  bool resident_ = false;  // a head's tiles stay until its last row block is done
#if ATTNVP_HETEROGENEOUS_CORES
  Window window_;
#endif
  RowBlocks rows_;
  uint32_t emb_, value_emb_, slabs_, slabs_per_block_, blocks_per_head_;
  uint32_t first_block_ = 0, last_block_ = 0;  // this cluster's, over all heads
  uint64_t slab_bytes_ = 0, k_ = 0, v_ = 0;
  Tile loads_;                           // the next tile to be loaded
  uint32_t head_loading_ = 0xFFFF'FFFF;  // where tiles stay: whose they are
  static constexpr uint32_t kMaxCores = 64;
  Core core_[kMaxCores];
  Events q_ready_, slot_free_, k_ready_, v_ready_, k_free_, v_free_, scored_, maxed_, summed_, ring_free_, o_ready_,
      turn_, stored_;
  uint32_t stores_ = 0;
};

}  // namespace attnvp::firmware
