// Dealing the tiles of many heads' contexts to workers. A head here is one batch's head of K and V with all of its
// queries, or with one row block of them; its tiles are N_KV rows of K and V. A context is what the heads of one batch,
// and of one row block, have before them; the row blocks with most keys come first. A worker is a core; workers are
// numbered over the clusters first, so that few of them spread over many clusters.
//
//   stream-K  (LeanAttention section 4): one contiguous walk over batch x head x context, cut into as equal pieces as
//   can be split     (FlashDecoding, FlashAttention-2): every context in the same number of pieces, dealt to the
//   workers in turn; where row blocks have contexts of their own lengths, each to the worker that is done first, as a
//   GPU's scheduler does
#pragma once

#include "firmware/runtime/runtime.h"
#include "firmware/runtime/work.h"

namespace attnvp::firmware {

// A piece of one head's context on one worker.
struct Segment {
  bool valid = false;
  uint32_t context = 0, head = 0;  // head of K and V in its batch
  uint32_t first = 0, tiles = 0;   // tiles of that context
  uint32_t part = 0, parts = 1;    // which of the head's pieces, and of how many
  uint32_t host = 0;               // the worker that has part 0, and merges
  uint32_t record = 0;             // where the piece's partial result is kept
};

class Contexts {
 public:
  static constexpr uint32_t kMostBatches = 1024, kMostKnown = 256;
  // `by_head`: workers' walks have all row blocks of a head before the next head.
  Contexts(Runtime& rt, uint32_t nq, uint32_t nkv, bool by_head = false);
  bool by_head() const { return by_head_; }
  uint32_t count() const { return first_[batches_]; }
  uint32_t heads() const { return heads_; }  // of a context
  uint32_t batch(uint32_t context) const;
  Item rows(uint32_t context, uint32_t head) const;              // queries of a head of its batch, and keys
  uint64_t query_row(uint32_t context, const Item& item) const;  // of all rows of Q: the item's first one
  hal::Mask mask(uint32_t context) const;                        // where it has none, the places of its queries
  uint32_t tiles(uint32_t context) const { return tiles_known_ > 0 ? tiles_[block_of(context)] : count_tiles(context); }
  KeyBlocks::Part keys(uint32_t context, uint32_t tile) const;    // of that tile
  uint32_t block(uint32_t context, uint32_t tile) const;          // of keys, which that tile is (a part) of,
  KeyBlocks::Part whole(uint32_t context, uint32_t block) const;  //   and all of its keys
  // The row of K and V where key `key` of a head is; in a cache of pages the rows up to the page's end are in one run.
  uint64_t key_row(Runtime& rt, uint32_t context, uint32_t head, uint32_t key) const;
  uint64_t row_of(Runtime& rt, uint32_t batch, uint32_t head, uint32_t key) const;
  uint32_t head_rows(uint32_t batch) const {  // from a head's rows to the next one's
    return page_ != 0 ? page_ : ragged_ == 0 ? all_keys_ : keys_[batch];
  }
  uint32_t new_tokens(uint32_t batch) const { return queries_[batch]; }  // of requests
  uint32_t all_tokens(uint32_t batch) const { return keys_[batch]; }
  uint32_t run_of(uint32_t key, uint32_t keys) const { return page_ == 0 ? keys : min(keys, page_ - key % page_); }
  bool uneven() const { return mask_.any() && count() > batches_; }
  // The i-th of all contexts' heads as public kernels have them: row block by row block, then the next head.
  void in_order(uint32_t i, uint32_t& context, uint32_t& head) const;
  // In that order, the first of a head's that has tile `tile` of all of them, and the tiles before that head.
  uint32_t head_with(uint32_t tile, uint32_t& before) const;
  uint32_t total_tiles() const { return total_tiles_; }
  uint32_t most_tiles() const { return most_tiles_; }

 private:
  static constexpr uint32_t kNoBatch = 0xFFFF'FFFF;
  uint32_t rows_of(uint32_t batch) const { return ragged_ == 2 ? group_ * queries_[batch] : seq_q_; }
  bool alike() const { return ragged_ == 0 && !mask_.is_padded(); }  // all batches' keys
  uint32_t keys_of(uint32_t batch) const { return alike() ? all_keys_ : keys_[batch]; }
  hal::Mask mask_of(uint32_t batch) const;
  const RowBlocks& blocks(uint32_t batch) const { return know(batch), blocks_; }
  const KeyBlocks& cut(uint32_t batch) const { return know(batch), cut_; }
  void know(uint32_t batch) const {
    if (!alike() && known_ != batch) cut_up(batch);
  }
  void cut_up(uint32_t batch) const;
  uint32_t count_tiles(uint32_t context) const;
  // Contexts alike in all batches: row block by row block over them; otherwise batch by batch. Most keys first.
  uint32_t context_of(uint32_t batch, uint32_t block) const;
  uint32_t block_of(uint32_t context) const;

  uint32_t ragged_, batches_, heads_, seq_q_, all_keys_, nq_, nkv_, group_, page_;
  hal::Mask mask_;
  hal::BlockMask map_;
  bool by_head_;
  uint32_t total_tiles_ = 0, most_tiles_ = 0;
  // How the batch that was asked for last is cut up; of batches that are alike: any of them.
  mutable RowBlocks blocks_;
  mutable KeyBlocks cut_;
  mutable uint32_t known_ = kNoBatch;
  uint32_t tiles_known_ = 0;  // of batches that are alike: tiles of their row blocks, where there are no more of them
  uint32_t tiles_[kMostKnown];
  uint32_t queries_[kMostBatches], keys_[kMostBatches];
  uint32_t first_[kMostBatches + 1];  // context of each batch; of batches that are alike: as if they were not
};

extern const Statistic kPartitionStatistics[];

class StreamK {
 public:
  // splits = 0: stream-K; otherwise pieces per context.
  // `waves`: each piece to the worker that is done first, in the order of a GPU's grid; otherwise in turn.
  StreamK(const Contexts& contexts, uint32_t slots, uint32_t splits, bool waves = false);

#if ATTNVP_HETEROGENEOUS_CORES
  // Each context, whole, to the worker that is done with it first. More contexts than kMostDealt stay in turn.
  void deal_by_weight(const Deal& deal, uint32_t clusters, uint32_t cores);
#endif

  uint32_t workers() const { return workers_; }
  // The n-th piece of a worker, in the order in which it computes them; not valid behind the last.
  Segment segment(uint32_t worker, uint32_t n) const;
  uint32_t records() const;  // partial results there may be
  bool merges() const { return splits_ != 1; }
  // Where part `part` of the head that `segment` is of is kept.
  uint32_t record(const Segment& segment, uint32_t part) const;
  void report(Runtime& rt) const;  // the dealing, as statistics in the order of kPartitionStatistics

  // FlashDecoding's choice: 1 when the heads fill most of the slots, else the fewest pieces that come within 85% of the
  // best occupancy of the last wave.
  static uint32_t flash_decoding_splits(uint32_t heads, uint32_t slots, uint32_t tiles);

 private:
  uint32_t worker_of(uint32_t tile) const;
  void skip_to(uint32_t tile, uint32_t& context, uint32_t& start) const;
  uint32_t first_tile(uint32_t worker) const;
  void deal_in_waves(bool handed_out);
  Segment streamed(uint32_t worker, uint32_t n) const;
  Segment by_head(uint32_t worker, uint32_t n) const;
  Segment split(uint32_t worker, uint32_t n) const;
  Segment piece(uint32_t item) const;  // split: of all pieces; not valid where a shorter context has fewer

  // In waves: which worker has which item, in the order in which they are dealt.
  static constexpr uint32_t kMostDealt = 8192;
  static constexpr uint32_t kMostInWaves = 256;  // workers
  std::uint8_t worker_of_item_[kMostDealt];
  uint32_t dealt_ = 0;  // 0: in turn

  // Where workers' walks begin, of some of them, as a cluster's are at even distances: in which context, and the tiles
  // before it.
  static constexpr uint32_t kBegins = 8, kNobody = 0xFFFF'FFFF;
  struct Begin {
    uint32_t worker = kNobody, context = 0, start = 0;
  };
  mutable Begin begin_[kBegins];

  const Contexts& contexts_;
  uint32_t splits_;
  bool waves_;
  uint32_t workers_ = 0, most_ = 0, high_load_ = 0;  // high_load_ workers have most_ tiles, the others one fewer
};

}  // namespace attnvp::firmware
