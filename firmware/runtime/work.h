// How a layer is cut up. A group is B_b x H_h heads whose K and V live in L1 together; its query rows are cut into
// row blocks of about N_Q rows, in whole passes of the MAC array where possible. An item is one row block of one
// head: what one lane does at a time. A lane is a core, or a few cores that pass an item on to each other. Items are
// dealt to the lanes in turn (starting with another lane in every group, so that uneven blocks even out); a round is
// one item for each lane. Clusters share all items evenly.
//
// Under a mask an item has the keys that some of its rows attend to, and a row block lies within one query head (but
// where it has room for all queries of one). Row blocks at the same place of the query heads that share K and V follow
// one another, those with most keys first; lanes take turns forth and back and clusters share the scores, so that all end together.
#pragma once

#include "firmware/runtime/runtime.h"

namespace attnvp::firmware {

struct Item {
  bool valid = false;
  uint32_t lane = 0;
  uint32_t head = 0;    // b * heads + h
  uint32_t member = 0;  // of the group
  uint32_t block = 0;   // row block
  uint32_t row = 0;     // first query row
  uint32_t rows = 0;
  uint32_t key = 0;   // first key that some of the rows attend to,
  uint32_t keys = 0;  // and how many there are up to the last one
  uint32_t head_keys = 0, main_key = 0;  // [key, head_keys) and [main_key, key + keys) of them; head_keys = 0: all
};

// The keys of a head that any query attends to, in blocks of nkv: those of the first keys, then the others. Their rows
// of K and V lie one behind the other in this order where they are all in L1.
class KeyBlocks {
 public:
  KeyBlocks(const Runtime& rt, uint32_t nkv) : KeyBlocks(rt.mask(), rt.layer().seq_q, rt.layer().seq_kv, nkv) {}
  KeyBlocks(const hal::Mask& mask, uint32_t rows, uint32_t keys, uint32_t nkv);
  uint32_t count() const { return head_blocks_ + main_blocks_; }
  uint32_t row(uint32_t block) const {  // first key
    return block < head_blocks_ ? block * nkv_ : first_ + (block - head_blocks_) * nkv_;
  }
  uint32_t rows(uint32_t block) const { return min(nkv_, (block < head_blocks_ ? head_ : end_) - row(block)); }
  uint32_t place(uint32_t key) const { return key < head_ ? key : head_blocks_ * nkv_ + key - first_; }  // among rows
  uint32_t places() const { return main_blocks_ == 0 ? head_ : place(end_ - 1) + 1; }

  // The part of a block that an item's rows attend to, as one run of keys.
  struct Part {
    uint32_t key = 0, keys = 0;        // keys = 0: none
    bool first = false, last = false;  // of the item's
    bool any() const { return keys > 0; }
  };
  Part part(const Item& item, uint32_t block) const;
  uint32_t parts(const Item& item) const;                      // of an item
  uint32_t number_of(const Item& item, uint32_t block) const;  // of the part in that block, among the item's,
  uint32_t block_of(const Item& item, uint32_t number) const;  //   and back

 private:
  uint32_t block_at(uint32_t key) const { return place(key) / nkv_; }
  // Of an item's first keys, and the first one of the others that is not among those.
  uint32_t head_parts(const Item& item) const { return static_cast<uint32_t>(ceil_div(item.head_keys, nkv_)); }
  uint32_t main_block(const Item& item) const { return max(block_at(item.main_key), head_parts(item)); }
  uint32_t nkv_, head_, first_, end_, head_blocks_, main_blocks_;
};

// Rows of one head of K and V, cut into row blocks: those of a layer without a mask, or of each query head.
class RowBlocks {
 public:
  // `workers`: a multiple of so many blocks, where there are enough passes of `unit` rows.
  RowBlocks(const Runtime& rt, uint32_t nq, uint32_t unit, uint32_t workers)
      : RowBlocks(rt.mask(), rt.layer().seq_q, rt.layer().seq_kv, nq, unit, workers) {}
  RowBlocks(const hal::Mask& mask, uint32_t rows, uint32_t keys, uint32_t nq, uint32_t unit, uint32_t workers);
  uint32_t count() const { return heads_ * blocks_; }
  uint32_t heads() const { return heads_; }  // that are cut for themselves
  bool uneven() const { return mask_.any(); }
  void fill(Item& item, uint32_t block) const;  // block, row, rows and keys
  uint64_t scores(uint32_t block) const;        // of the block: what its work is like
  uint32_t most_keys() const;                   // of any block
  bool in_two_runs() const { return mask_.window != 0 && (mask_.sinks != 0 || mask_.prefix != 0); }


 private:
  hal::Mask mask_;
  uint32_t heads_, rows_, unit_, blocks_;  // query heads that are cut for themselves, their rows; blocks of each
  uint32_t keys_;
};

// Of `heads` heads with `count` pieces of work each, one behind the other: the first piece of part `part` of `parts`
// with equal shares, of pieces or, where those are not even, of their scores.
template <typename Scores>
uint32_t share(uint32_t heads, uint32_t count, bool even, const Scores& scores, uint32_t part, uint32_t parts) {
  const uint64_t all = uint64_t{heads} * count;
  if (even || part == 0 || part == parts) return static_cast<uint32_t>(all * part / parts);
  uint64_t head = 0;
  for (uint32_t i = 0; i < count; ++i) head += scores(i);
  const uint64_t wanted = head * heads / parts * part;
  const auto whole = static_cast<uint32_t>(wanted / head);
  uint64_t rest = wanted - whole * head;
  uint32_t i = 0;
  for (; i < count && rest > 0; ++i) {
    const uint64_t here = scores(i);
    if (2 * rest < here) break;  // the nearer end
    rest -= min(rest, here);
  }
  return whole * count + i;
}

class Work {
 public:
  Work(const Runtime& rt, const RowTiling& tiling) : Work(rt, tiling, rt.cores()) {}
  Work(const Runtime& rt, const RowTiling& tiling, uint32_t lanes);

  uint32_t lanes() const { return lanes_; }

  // This cluster's groups and, within a group, its rounds.
  uint32_t groups() const { return groups_; }
  uint32_t rounds(uint32_t group) const;
  // What `lane` does in that round; not valid when there is nothing left for it.
  Item item(uint32_t group, uint32_t round, uint32_t lane) const;

  // The lane's last round with an item in that group, or kNoRound.
  static constexpr uint32_t kNoRound = 0xFFFF'FFFF;
  uint32_t last_round(uint32_t group, uint32_t lane) const;

  uint32_t members(uint32_t group) const;                      // heads in the group
  uint32_t head_of(uint32_t group, uint32_t member) const;     // b * heads + h
  uint32_t items() const { return last_item_ - first_item_; }  // of this cluster
  uint32_t most_keys() const { return cut_.most_keys(); }      // of an item
  bool in_two_runs() const { return cut_.in_two_runs(); }      // an item's keys may be

  // A position in the cluster's sequence of rounds.
  struct Round {
    uint32_t group = 0, round = 0;
    bool valid = false;
  };
  Round first() const { return {0, 0, groups_ > 0}; }
  Round after(const Round& r) const;  // not valid behind the last one, and behind one that is not valid

 private:
  struct Span {  // a group's items that belong to this cluster
    uint32_t first, last;
  };
  static constexpr uint32_t kMemos = 16;
  struct Memo {
    uint32_t group = kNoRound, round = kNoRound;
    Item item;
  };
  Item made_item(uint32_t group, uint32_t round, uint32_t lane) const;
  uint32_t global(uint32_t group) const { return first_group_ + group; }
  uint32_t members_global(uint32_t group) const;
  uint32_t block_at(uint32_t place) const { return cut_.uneven() ? blocks_ - 1 - place : place; }
  uint32_t items_before(uint32_t group) const;  // global
  Span span(uint32_t group) const;

  uint32_t lanes_, batch_, heads_, bb_, hh_;
  RowBlocks cut_;
  uint32_t blocks_;
  uint32_t head_groups_;  // groups along the head dimension
  uint32_t all_groups_;
  uint32_t first_group_ = 0, groups_ = 0;
  uint32_t first_item_ = 0, last_item_ = 0;
  mutable Memo memo_[kMemos];
};

// The item's rows of a tensor in DRAM: [batch, heads, seq_q, columns].
Matrix dram_rows(const Runtime& rt, uint64_t tensor, const Item& item, uint32_t columns);

// The item's scores in DRAM, of its keys: [batch, heads, seq_q, seq_kv].
Matrix dram_scores(const Runtime& rt, uint64_t tensor, const Item& item);
// Where P is to be made of scores whose first row and column are query `row` and key `key`: masked, where it has to be.
void mask(const hal::Mask& mask, Command& softmax, uint32_t row, uint32_t key);
inline void mask(const Runtime& rt, Command& softmax, uint32_t row, uint32_t key) {
  mask(rt.mask(), softmax, row, key);
}
// Of a sum over the parts of an item's keys.
Accumulate place_of(const KeyBlocks::Part& part);

// Row blocks that seq_q rows are cut into: a multiple of `workers` where there are enough passes of `unit` rows.
uint32_t row_blocks(uint32_t seq_q, uint32_t nq, uint32_t unit, uint32_t workers);

}  // namespace attnvp::firmware
