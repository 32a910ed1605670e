// Distribution of the tiles of many heads' contexts to workers. A head is one batch's head of K and V with all of its
// queries or one row block of them; its tiles are N_KV rows of K and V. A context is the key sequence of the heads of
// one batch and one row block; contexts with the most keys come first. A worker is a core. Workers are numbered across
// clusters first, so that a few workers spread over many clusters.
//
//   stream-K  (LeanAttention section 4): the linear sequence batch x head x context, cut into equal contiguous parts
//   split     (FlashDecoding, FlashAttention-2): every context in the same number of pieces, assigned round-robin; if
//             row blocks have contexts of different lengths, each piece goes to the worker that is done first, as in a
//             GPU's scheduler
#pragma once

#include "firmware/runtime/runtime.h"
#include "firmware/runtime/work.h"

namespace attnvp::firmware {

// A piece of one head's context, assigned to one worker.
struct Segment {
  bool valid = false;
  uint32_t context = 0, head = 0;  // head of K and V within the batch
  uint32_t first = 0, tiles = 0;   // tiles of the context
  uint32_t part = 0, parts = 1;    // index and number of the head's pieces
  uint32_t host = 0;               // worker that has part 0 and merges
  uint32_t record = 0;             // index of the piece's partial result
};

class Contexts {
 public:
  static constexpr uint32_t kMostBatches = 1024, kMostKnown = 256;
  // `by_head`: a worker processes all row blocks of a head before the next head.
  Contexts(Runtime& rt, uint32_t nq, uint32_t nkv, bool by_head = false);
  bool by_head() const { return by_head_; }
  uint32_t count() const { return first_[batches_]; }
  uint32_t heads() const { return heads_; }  // per context
  uint32_t batch(uint32_t context) const;
  Item rows(uint32_t context, uint32_t head) const;              // queries of a head of the batch, and keys
  uint64_t query_row(uint32_t context, const Item& item) const;  // row of the item's first query in Q
  hal::Mask mask(uint32_t context) const;                        // without a mask: the positions of the queries
  uint32_t tiles(uint32_t context) const { return tiles_known_ > 0 ? tiles_[block_of(context)] : count_tiles(context); }
  KeyBlocks::KeyPart keys(uint32_t context, uint32_t tile) const;    // keys of the tile
  uint32_t block(uint32_t context, uint32_t tile) const;             // block of keys that contains the tile
  KeyBlocks::KeyPart whole(uint32_t context, uint32_t block) const;  // all keys of that block
  // Row of K and V that holds key `key` of a head. In a paged cache, rows are contiguous up to the page's end.
  uint64_t key_row(Runtime& rt, uint32_t context, uint32_t head, uint32_t key) const;
  uint64_t row_of(Runtime& rt, uint32_t batch, uint32_t head, uint32_t key) const;
  uint32_t head_rows(uint32_t batch) const {  // distance between the rows of consecutive heads
    return page_ != 0 ? page_ : ragged_ == 0 ? all_keys_ : keys_[batch];
  }
  uint32_t new_tokens(uint32_t batch) const { return queries_[batch]; }  // of a request
  uint32_t all_tokens(uint32_t batch) const { return keys_[batch]; }
  uint32_t run_of(uint32_t key, uint32_t keys) const { return page_ == 0 ? keys : min(keys, page_ - key % page_); }
  bool uneven() const { return mask_.any() && count() > batches_; }
  // The i-th head of all contexts in the order of a public kernel: all row blocks of a head and then the next head, or
  // `heads_first` one row block of all heads and then the next row block.
  void in_order(uint32_t i, uint32_t& context, uint32_t& head, bool heads_first = false) const;
  // First entry, in that order, of the head that contains tile `tile` of all tiles, and the number of tiles before it.
  uint32_t head_with(uint32_t tile, uint32_t& before) const;
  uint32_t total_tiles() const { return total_tiles_; }
  uint32_t most_tiles() const { return most_tiles_; }

 private:
  static constexpr uint32_t kNoBatch = 0xFFFF'FFFF;
  uint32_t rows_of(uint32_t batch) const { return ragged_ == 2 ? group_ * queries_[batch] : seq_q_; }
  bool alike() const { return ragged_ == 0 && !mask_.is_padded(); }  // all batches have the same keys
  uint32_t keys_of(uint32_t batch) const { return alike() ? all_keys_ : keys_[batch]; }
  hal::Mask mask_of(uint32_t batch) const;
  const RowBlocks& blocks(uint32_t batch) const { return know(batch), blocks_; }
  const KeyBlocks& cut(uint32_t batch) const { return know(batch), cut_; }
  void know(uint32_t batch) const {
    if (!alike() && known_ != batch) cut_up(batch);
  }
  void cut_up(uint32_t batch) const;
  uint32_t count_tiles(uint32_t context) const;
  // If batches are alike, contexts are ordered by row block over all batches, otherwise by batch; most keys first.
  uint32_t context_of(uint32_t batch, uint32_t block) const;
  uint32_t block_of(uint32_t context) const;

  uint32_t ragged_, batches_, heads_, seq_q_, all_keys_, nq_, nkv_, group_, page_;
  hal::Mask mask_;
  hal::BlockMask map_;
  bool by_head_;
  uint32_t total_tiles_ = 0, most_tiles_ = 0;
  // Partition of the batch requested last; if batches are alike, of any batch.
  mutable RowBlocks blocks_;
  mutable KeyBlocks cut_;
  mutable uint32_t known_ = kNoBatch;
  uint32_t tiles_known_ = 0;  // if batches are alike: tiles of their row blocks, up to kMostKnown
  uint32_t tiles_[kMostKnown];
  uint32_t queries_[kMostBatches], keys_[kMostBatches];
  uint32_t first_[kMostBatches + 1];  // first context of each batch, in batch order
};

extern const Statistic kPartitionStatistics[];

struct GridOrder {
  uint32_t groups = 0;  // of workers: worker w is in group w modulo these; 0: no grid
  bool heads_first = false;
};

class StreamK {
 public:
  // splits = 0: stream-K; otherwise pieces per context. Without `order.groups` round-robin, otherwise in the order of a
  // GPU's grid: groups of workers take turns, and a group's piece goes to its worker that is done first. Above
  // kMostDealt whole contexts its workers take turns too, shifted by one from wave to wave, so that none has the same
  // row block of every head.
  StreamK(const Contexts& contexts, uint32_t slots, uint32_t splits, GridOrder order = {});

#if ATTNVP_HETEROGENEOUS_CORES
  // Assigns each whole context to the worker that finishes it first. Above kMostDealt contexts, the order stays
  // round-robin.
  void deal_by_weight(Runtime& rt);
#endif

  uint32_t workers() const { return workers_; }
  // The n-th piece of a worker, in computation order; invalid beyond the last.
  Segment segment(uint32_t worker, uint32_t n) const;
  uint32_t records() const;  // upper bound of partial results
  bool merges() const { return splits_ != 1; }
  // Record of part `part` of the head to which `segment` belongs.
  uint32_t record(const Segment& segment, uint32_t part) const;
  void report(Runtime& rt) const;  // writes the statistics kPartitionStatistics

  // FlashDecoding's heuristic: 1 if the heads fill most of the slots, else the fewest pieces within 85% of the best
  // occupancy of the last wave.
  static uint32_t flash_decoding_splits(uint32_t heads, uint32_t slots, uint32_t tiles);

 private:
  uint32_t worker_of(uint32_t tile) const;
  void skip_to(uint32_t tile, uint32_t& context, uint32_t& start) const;
  uint32_t first_tile(uint32_t worker) const;
  void deal_in_waves();
  Segment streamed(uint32_t worker, uint32_t n) const;
  Segment by_head(uint32_t worker, uint32_t n) const;
  Segment split(uint32_t worker, uint32_t n) const;
  bool waves() const { return grid_.groups > 0; }
  bool is_shifted() const { return waves() && splits_ == 1 && dealt_ == 0; }
  uint64_t shifted_item(uint32_t worker, uint32_t n) const {
    const uint32_t group = worker % grid_.groups, members = (workers_ - group - 1) / grid_.groups + 1;
    return (uint64_t{n} * members + (worker / grid_.groups + n) % members) * grid_.groups + group;
  }
  Segment piece(uint32_t item) const;  // split: index over all pieces; invalid if a shorter context has fewer pieces

  // In waves: worker of each item, in the order of assignment.
  static constexpr uint32_t kMostDealt = 8192;
  static constexpr uint32_t kMostInWaves = 256;  // workers
  std::uint8_t worker_of_item_[kMostDealt];
  uint32_t dealt_ = 0;  // 0: round-robin

  // Cache of the positions at which workers' sequences begin: context, and tiles before it.
  static constexpr uint32_t kBegins = 8, kNobody = 0xFFFF'FFFF;
  struct WorkerBegin {
    uint32_t worker = kNobody, context = 0, start = 0;
  };
  mutable WorkerBegin begin_[kBegins];

  const Contexts& contexts_;
  uint32_t splits_;
  GridOrder grid_;
  uint32_t workers_ = 0, most_ = 0, high_load_ = 0;  // high_load_ workers have most_ tiles, the others one less
};

}  // namespace attnvp::firmware
