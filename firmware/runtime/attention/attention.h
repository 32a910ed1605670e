// Tiled steps of attention for one round of row blocks, one per lane: Algorithms 2, 3 and 4 of the MAS-Attention paper.
// A step only enqueues commands. The dataflow's call order and the hardware events determine which commands overlap.
#pragma once

#include "firmware/runtime/attention/kv_buffer.h"
#include "firmware/runtime/runtime.h"
#include "firmware/runtime/tiling.h"
#include "firmware/runtime/work.h"

namespace attnvp::firmware {

// Blocks of nq x N scores per lane. With tokens, events return a block after use, because several engines use the
// blocks in turn. If forwarded, engines' results bypass L1 on their way to DRAM.
struct ScoreBlocks {
  uint32_t count = 1;
  bool tokens = false;
  bool forwarded = false;
};

// The last blocks of O are stored in this many strips, because no computation hides the last store.
constexpr uint32_t kLastStrips = 4;

// Buffers for blocks of O per core. There are more than for Q, so that stores can yield to urgent loads.
inline uint32_t o_buffers(const RowTiling& tiling) { return 2 * tiling.row_buffers; }

// DMA channels: loads in the order of need; stores on their own channel, because they wait for results.
constexpr uint32_t kLoadChannel = 0;
constexpr uint32_t kStoreChannel = 1;

class AttentionSteps;
class Loads;

// Additional events between steps, beyond data dependences. A dataflow attaches them to the first (after) and the last
// (then) command of C or O of a lane's row block.
struct Sync {
  Events after;         // span 0: none
  uint32_t tokens = 1;  // of `after`
  Events then;          // span 0: none
};
class Discipline {
 public:
  virtual Sync for_c(const Work::Round& /*i*/, uint32_t /*lane*/) const { return {}; }
  virtual Sync for_o(const Work::Round& /*i*/, uint32_t /*lane*/) const { return {}; }

 protected:
  ~Discipline() = default;
};

// Mapping of lanes to cores. By default lane l is core l. A pipeline computes C and O on the MAC engines of different
// cores.
struct Lanes {
  uint32_t count = 0;
  uint32_t o_offset = 0;  // lane l computes O on core l + o_offset; both cores' VEC engines share P
  uint32_t c_core(uint32_t lane) const { return lane; }
  uint32_t o_core(uint32_t lane) const { return lane + o_offset; }
  uint32_t vec_engines() const { return o_offset == 0 ? 1 : 2; }
  // Subset of per-VEC-engine events: those of a lane, or of one engine of a lane.
  Events of_lane(Events events, uint32_t lane) const { return {events.first + lane * vec_engines(), vec_engines()}; }
  Events of_engine(Events events, uint32_t lane, uint32_t engine) const { return of_lane(events, lane).of(engine); }
};

class AttentionSteps {
 public:
  // Allocates row and score buffers and events for every lane.
  AttentionSteps(Runtime& rt, const Work& work, const RowTiling& tiling, const ScoreBlocks& scores)
      : AttentionSteps(rt, work, tiling, scores, {rt.cores(), 0}) {}
  AttentionSteps(Runtime& rt, const Work& work, const RowTiling& tiling, const ScoreBlocks& scores, const Lanes& lanes);

  // Loads Q_i; called one round ahead of produce_c, the load overlaps computation. For a lane's first block it loads
  // only the first strip, so that computation starts early; load_q_rest loads the rest after K. Invalid rounds are
  // ignored.
  [[gnu::noinline]] void load_q(const Work::Round& i);
  [[gnu::noinline]] void load_q_rest(const Work::Round& i);
  // Number of descriptors that load_q_rest enqueues.
  uint32_t rest_of_q(const Work::Round& i) const { return i.valid && i.index < last_first_ ? first_rest_of_q(i) : 0; }
  // Algorithm 2: C_i = Q_i K^T, sub-block by sub-block of K. `ahead` may issue later loads between commands.
  [[gnu::noinline]] void produce_c(KvBuffer& k, const Work::Round& i, Loads& ahead,
                                   const Discipline* discipline = nullptr);
  // Algorithm 3: P_i = softmax(C_i), row by row, in place.
  [[gnu::noinline]] void produce_p(const Work::Round& i);
  // Algorithm 4: O_i = P_i V; stores O_i.
  [[gnu::noinline]] void produce_o(KvBuffer& v, const Work::Round& i, const Discipline* discipline = nullptr);

  // Transfers of scores between L1 and DRAM, for the blocks of produce_c and produce_p.
  void store_c(const Work::Round& i) { store_scores(i, rt_.layer().c, c_ready_, hal::ElementType::kFp16); }
  void store_p(const Work::Round& i) { store_scores(i, rt_.layer().p, p_ready_, rt_.type()); }
  void load_c(const Work::Round& i) { load_scores(i, rt_.layer().c, c_ready_, hal::ElementType::kFp16); }
  void load_p(const Work::Round& i) { load_scores(i, rt_.layer().p, p_ready_, rt_.type()); }

  // Stalls the processor until all stores are done, and resets the steps.
  [[gnu::noinline]] void finish();
  // Also waits for all loads of K, because its L1 space is freed.
  void finish(const KvBuffer& k);

 private:
  // Contiguous buffers in [at, end): lower 32 bits of L1 addresses.
  struct Ring {
    uint32_t at, end;
  };
  static void turn(uint32_t& place, const Ring& ring, uint32_t bytes) {
    place += bytes;
    if (place == ring.end) place = ring.at;
  }
  struct RowBuffers {
    Ring q, scores, o;
    uint32_t partials;
    // Next buffer of each step.
    uint32_t q_load, q_use, c, p, o_p, o_at;
    uint32_t stored, loaded;  // next buffers of score transfers
    uint32_t first;           // 1 + index of the round of the lane's first item
    bool first_c;             // C of the lane's first item is not produced yet
  };
  static void begin(RowBuffers& lane);
  [[gnu::noinline]] uint32_t first_rest_of_q(const Work::Round& i) const;
  void store_scores(const Work::Round& i, uint64_t tensor, Events ready, hal::ElementType type);
  void load_scores(const Work::Round& i, uint64_t tensor, Events ready, hal::ElementType type);
  void stream_o(KvBuffer& v, const Work::Round& i,
                const Discipline* discipline);  // O_i (+)= P_i,j V_j for each streamed V_j
  void resident_o(KvBuffer& v, const Work::Round& i, const Discipline* discipline);  // O_i = P_i V
  void store_o(const Item& item, uint32_t row, uint32_t rows);
  uint32_t first_strip() const;
  [[gnu::noinline]] void make_copy(Command& command, bool load);
  Matrix in_l1(uint32_t columns, uint32_t stride, hal::ElementType type) const {
    return {hal::l1_base(rt_.cluster()), 0, columns, stride, type};
  }
  [[gnu::noinline]] void make_c();
  [[gnu::noinline]] void make_o(uint32_t keys, uint32_t partials, Accumulate place);
  void normalize(const Item& item, uint32_t block, uint32_t row, uint32_t rows, Events after, Events then);
  void load_q_rows(const Item& item, uint32_t q, uint32_t row, uint32_t rows);
  Matrix score_block(uint32_t at, const Item& item, hal::ElementType type) const;  // columns: keys of the item
  uint64_t dram_row(uint64_t tensor, const Item& item, uint32_t row, uint32_t bytes) const {
    return tensor + (uint64_t{item.head} * rt_.layer().seq_q + item.row + row) * bytes;
  }

  Runtime& rt_;
  const Work& work_;
  RowTiling tiling_;
  ScoreBlocks scores_;
  Lanes lanes_;
  uint32_t o_buffers_;
  uint32_t rows_, keys_;  // of a row block's buffers
  uint32_t row_bytes_, v_row_bytes_, o_row_bytes_, partial_bytes_,
      score_bytes_;                            // bytes per row of Q, V, O, partial sums of O, C
  uint32_t q_bytes_, o_bytes_, scores_bytes_;  // bytes per row block
  uint32_t p_bytes_;                           // bytes per element of P within rows of scores
  uint64_t head_bytes_;                        // bytes per head of Q or O
  Events q_ready_, q_free_, c_ready_, p_ready_, o_ready_, o_free_, scores_free_, stored_;
  uint32_t stores_ = 0;      // issued since the last finish()
  uint32_t last_first_ = 0;  // largest RowBuffers::first
  // Commands that are issued repeatedly, with edits.
  Command load_q_, c_, p_, o_, store_o_;
  uint32_t o_keys_ = 0;  // keys of the products that o_ computes; 0: o_ is a term of a sum
  static constexpr uint32_t kMaxLanes = 64;
  RowBuffers lane_[kMaxLanes];  // last, because load and store offsets reach only 2 KiB
};

}  // namespace attnvp::firmware
