// Partition of a layer into work items.
//
// A group is B_b x H_h heads whose K and V are in L1 together. Its query rows are cut into row blocks of about N_Q
// rows, in whole passes of the MAC array where possible. An item is one row block of one head. A lane is a core, or
// several cores that pass an item on. A round is one item per lane. Items are assigned to lanes round-robin; the first
// lane rotates from group to group, so that uneven blocks balance.
//
// Clusters share all items evenly, whole groups, or equal parts of groups. Every cluster with items of a group fetches
// the group's K and V, so it may be faster to leave some clusters idle.
//
// Heterogeneous cores: a row block is one round of all cores, and a core's item is its part of the rows (deal.h),
// possibly empty.
//
// Masks: an item has the keys to which some of its rows attend. A row block lies within one query head, unless it holds
// all queries of one. Equal row blocks of the query heads that share K and V are consecutive, those with the most keys
// first. Lanes alternate their order and clusters share the scores, so that all finish together.
#pragma once

#include "firmware/runtime/runtime.h"

namespace attnvp::firmware {

struct Item {
  uint32_t index;  // index of the round; set for the round's first item only
  bool valid;
  uint32_t lane;
  uint32_t head;    // b * heads + h
  uint32_t member;  // index in the group
  uint32_t block;   // row block
  uint32_t row;     // first query row
  uint32_t rows;
  uint32_t key;                  // first key to which some of the rows attend
  uint32_t keys;                 // number of keys up to the last such one
  uint32_t head_keys, main_key;  // these keys are [key, head_keys) and [main_key, key + keys); head_keys = 0: one range
};

// Blocks of nkv keys of a head to which any query attends: those of the first keys (sinks, prefix), then the others.
// Resident rows of K and V are stored contiguously in this order.
class KeyBlocks {
 public:
  KeyBlocks(const Runtime& rt, uint32_t nkv)
      : KeyBlocks(rt.mask(), rt.layer().seq_q, rt.layer().seq_kv, nkv, rt.map()) {}
  KeyBlocks(const hal::Mask& mask, uint32_t rows, uint32_t keys, uint32_t nkv, const hal::BlockMask& map = {});
  uint32_t count() const { return head_blocks_ + main_blocks_; }
  uint32_t row(uint32_t block) const {  // first key
    return block < head_blocks_ ? block * nkv_ : first_ + (block - head_blocks_) * nkv_;
  }
  uint32_t rows(uint32_t block) const { return min(nkv_, (block < head_blocks_ ? head_ : end_) - row(block)); }
  uint32_t place(uint32_t key) const { return key < head_ ? key : head_blocks_ * nkv_ + key - first_; }  // row index
  uint32_t places() const { return main_blocks_ == 0 ? head_ : place(end_ - 1) + 1; }

  // Part of a block to which an item's rows attend, as one range of keys.
  struct KeyPart {
    uint32_t key = 0, keys = 0;        // keys = 0: none
    bool first = false, last = false;  // of the item
    bool any() const { return keys > 0; }
  };
  KeyPart part(const Item& item, uint32_t block) const { return all_ ? whole(block) : part_of(item, block); }
  uint32_t parts(const Item& item) const;                      // of an item
  uint32_t number_of(const Item& item, uint32_t block) const;  // index of the block's part among the item's parts
  uint32_t block_of(const Item& item, uint32_t number) const;  // inverse of number_of
  // Keys [key, end) of an item that are computed together: its next contiguous range of needed blocks from `key` on.
  struct KeyRun {
    uint32_t key = 0, end = 0;
  };
  KeyRun run(const Item& item, uint32_t key) const;

 private:
  uint32_t block_at(uint32_t key) const { return place(key) / nkv_; }
  KeyPart whole(uint32_t block) const {
    return {block * nkv_, min(nkv_, end_ - block * nkv_), block == 0, block + 1 == main_blocks_};
  }
  KeyPart part_of(const Item& item, uint32_t block) const;
  bool seen(const Item& item, uint32_t key, uint32_t end) const {  // according to the block map
    return !map_.any() || hal::hull_of_rows(mask_, map_, item.row, item.rows, key, end).any();
  }
  // Number of parts of an item's first keys, and the first other block that they do not include.
  uint32_t head_parts(const Item& item) const { return static_cast<uint32_t>(ceil_div(item.head_keys, nkv_)); }
  uint32_t main_block(const Item& item) const { return max(block_at(item.main_key), head_parts(item)); }
  uint32_t nkv_, head_, first_, end_, head_blocks_, main_blocks_;
  bool all_;  // every query attends to all keys
  hal::Mask mask_;
  hal::BlockMask map_;
};

// Partition of the rows of one head of K and V into row blocks. Under a mask each query head is partitioned separately.
class RowBlocks {
 public:
  // The number of blocks is a multiple of `workers` if there are enough passes of `unit` rows.
  RowBlocks(const Runtime& rt, uint32_t nq, uint32_t unit, uint32_t workers)
      : RowBlocks(rt.mask(), rt.layer().seq_q, rt.layer().seq_kv, nq, unit, workers, rt.map()) {}
  RowBlocks(const hal::Mask& mask, uint32_t rows, uint32_t keys, uint32_t nq, uint32_t unit, uint32_t workers,
            const hal::BlockMask& map = {});
  uint32_t count() const { return heads_ * blocks_; }
  uint32_t heads() const { return heads_; }  // heads partitioned separately
  bool uneven() const { return mask_.any(); }
  // Without a mask: sets block, row and rows.
  void fill_plain(Item& item, uint32_t block) const {
    const uint32_t row = (block * each_ + min(block, longer_)) * unit_;
    item.block = block;
    item.row = row;
    item.rows = min((each_ + (block < longer_ ? 1 : 0)) * unit_, rows_ - row);
    item.keys = keys_;
  }
  // Sets block, row, rows and keys.
  void fill(Item& item, uint32_t block) const {
    place(item, block);
    item.key = item.head_keys = item.main_key = 0;
    item.keys = keys_;
    if (mask_.any()) see(item, keys_);
  }
  void see(Item& item, uint32_t keys) const;  // of the first `keys` keys, which are valid in its batch
  uint64_t scores(uint32_t block) const;      // scores of the block, a measure of its work
  uint32_t most_keys() const;                 // maximum over all blocks
  bool in_runs() const { return mask_.block != 0 || (mask_.window != 0 && (mask_.sinks != 0 || mask_.prefix != 0)); }

 private:
  void place(Item& item, uint32_t block) const {  // sets block, row and rows
    const uint32_t place = heads_ == 1 ? block : block / heads_;
    item.block = block;
    item.row = (place * each_ + min(place, longer_)) * unit_;
    item.rows = min((each_ + (place < longer_ ? 1 : 0)) * unit_, rows_ - item.row);
    item.row += (block - place * heads_) * rows_;
  }
  hal::Mask mask_;
  hal::BlockMask map_;
  uint32_t heads_, rows_, unit_, blocks_;  // query heads partitioned separately, their rows; blocks per head
  uint32_t keys_;
  uint32_t each_, longer_;  // units per block; the first longer_ blocks have one more
};

// Pieces [first, last) of part `part` of `parts`, for `heads` consecutive heads with `count` pieces each. Parts have
// equal numbers of pieces or, if pieces are uneven, about equal numbers of scores.
struct Share {
  uint32_t first = 0, last = 0;
};
template <typename Scores>
Share share(uint32_t heads, uint32_t count, bool even, const Scores& scores, uint32_t part, uint32_t parts) {
  const uint64_t all = uint64_t{heads} * count;
  if (even || parts == 1) {
    return {static_cast<uint32_t>(all * part / parts), static_cast<uint32_t>(all * (part + 1) / parts)};
  }
  uint64_t head = 0;
  for (uint32_t i = 0; i < count; ++i) head += scores(i);
  // Start of a part: whole heads before it, and the scores of the next head before it.
  struct Begin {
    uint64_t rest;
    uint32_t heads, piece;
    bool found;
  };
  const auto begin = [&](uint32_t p) -> Begin {
    if (p == parts) return {0, heads, 0, true};
    const uint64_t wanted = head * heads / parts * p;
    const auto whole = static_cast<uint32_t>(wanted / head);
    const uint64_t rest = wanted - whole * head;
    return {rest, whole, 0, rest == 0};
  };
  Begin ends[] = {begin(part), begin(part + 1)};
  for (uint32_t i = 0; i < count && !(ends[0].found && ends[1].found); ++i) {
    const uint64_t here = scores(i);
    for (Begin& b : ends) {
      if (b.found) continue;
      b.piece = i;
      b.found = 2 * b.rest < here;  // the nearer boundary
      if (b.found) continue;
      b.rest -= min(b.rest, here);
      b.piece = i + 1;
      b.found = b.rest == 0;
    }
  }
  return {ends[0].heads * count + ends[0].piece, ends[1].heads * count + ends[1].piece};
}

#if ATTNVP_HETEROGENEOUS_CORES
// As share(), in proportion to the clusters' weights.
template <typename Scores>
Share weighted_share(const ClusterDeal& deal, uint32_t heads, uint32_t count, bool even, const Scores& scores,
                     uint32_t cluster) {
  if (even) return {deal.begin_of_units(cluster, heads * count), deal.begin_of_units(cluster + 1, heads * count)};
  constexpr uint32_t kParts = ClusterDeal::kParts;
  const auto fine = [&](uint32_t piece) { return scores(piece) * kParts; };  // at least a part for each score
  const auto begin = [&](uint32_t c) { return share(heads, count, false, fine, deal.begin_of_parts(c), kParts).first; };
  return {begin(cluster), begin(cluster + 1)};
}
#endif

// As share(), with each head cut into `cuts` indivisible parts.
template <typename Scores>
Share share_parts(uint32_t heads, uint32_t count, bool even, const Scores& scores, uint32_t cuts, uint32_t part,
                  uint32_t parts) {
  const auto begin = [&](uint32_t p) -> uint32_t {
    const auto at = static_cast<uint32_t>(uint64_t{heads} * cuts * p / parts);
    const uint32_t within = at % cuts, before = at / cuts * count;
    return within == 0 ? before : before + share(1, count, even, scores, within, cuts).first;
  };
  return {begin(part), begin(part + 1)};
}

// Cost model input for groups of heads shared by clusters. Every cluster with items of a group fetches its K and V.
struct SharedGroups {
  uint32_t groups = 0, members = 1, items = 0;  // heads, and items, per group
  uint32_t lanes = 0, commands = 0, loads = 0;  // lanes per cluster; commands per item; loads of K and V per group
  uint32_t keys = 0;                            // fetched keys per head
  uint64_t scores = 0;                          // per head
  bool streamed = false;                        // fetched for every round of items
};
// Number of parts per group, of which clusters get whole ones; 0: a cluster's share may end at any item. It minimises
// the estimated cycles: the greater of engine and DRAM time, plus the exposed share of the lesser.
uint32_t parts_of_a_group_for(const Runtime& rt, const SharedGroups& groups);

uint32_t most_items(const Runtime& rt, const RowTiling& tiling);  // upper bound, over all clusters

// Heterogeneous cores: rows of a head that are processed in parallel, in units for Deal. The estimate with the fewest
// cycles determines size and unit (rows of one of the arrays). The size is limited by L1; smaller windows keep slower
// cores within their share.
struct Window {
  uint32_t unit = 0, rows = 0;
};
// Row blocks of a core have at most nq rows. `fetched`: windows per load of K and V; 0: one load for all of a head.
Window window_of(const Runtime& rt, uint32_t nq, uint32_t nkv, uint32_t fetched);
// Narrows the item of all cores to that of core `core`; the item begins at unit `from` of the sequence. `back`: cores
// are in reverse row order. The item becomes invalid if the core has no rows.
void narrow(const Runtime& rt, Item& item, uint32_t nq, uint32_t unit, uint32_t core, uint64_t from, bool back);

class Work {
 public:
  // Cores without items are excluded.
  Work(Runtime& rt, const RowTiling& tiling) : Work(rt, tiling, rt.use_cores(most_items(rt, tiling))) {}
  Work(Runtime& rt, const RowTiling& tiling, uint32_t lanes);

  uint32_t lanes() const { return lanes_; }

  // This cluster's groups and, within a group, its rounds.
  uint32_t groups() const { return groups_; }
  uint32_t rounds(uint32_t group) const { return group_at(group).rounds; }
  // Position in the cluster's sequence of rounds.
  struct Round {
    uint32_t group = 0, round = 0, index = 0;
    Item* kept = nullptr;  // cache entry of its items
    bool valid = false;
    bool full = false;  // every lane has an item, which is its last one in the group only if `ends`
    bool ends = false;  // last round of the group
    Round() = default;
    Round(const Round& other) { *this = other; }
    Round& operator=(const Round& o) {  // explicit, because compilers would emit a call
      group = o.group, round = o.round, index = o.index, kept = o.kept;
      valid = o.valid, full = o.full, ends = o.ends;
      return *this;
    }
  };
  [[gnu::always_inline]] Round first() const {
    Round r;
    if (groups_ > 0) make_round(r, 0, 0, 0);
    return r;
  }
  // The round after r; invalid after the last round or an invalid one.
  Round after(const Round& r) const {
    Round next = r;
    advance(next);
    return next;
  }
  void advance(Round& r) const {
    if (!r.valid) {
      r.group = r.round = r.index = 0;
    } else if (!r.ends) {
      make_round(r, r.group, r.round + 1, r.index + 1);
    } else if (r.group + 1 < groups_) {
      make_round(r, r.group + 1, 0, r.index + 1);
    } else {
      ++r.group, ++r.index;
      r.round = 0;
      r.valid = r.full = r.ends = false;
    }
  }
  bool is_last(const Round& r) const { return r.ends && r.group + 1 == groups_; }

  // Items of the lanes in that round; invalid if a lane has none. The pointer is valid until items of another round are
  // requested.
  const Item* items(const Round& r) const {
    if (r.kept->index != r.index) keep(r);
    return r.kept;
  }
  const Item& item(const Round& r, uint32_t lane) const { return items(r)[lane]; }
  Item item(uint32_t group, uint32_t round, uint32_t lane) const;

  // True if the round is the lane's last one in its group.
  bool is_last(const Round& r, uint32_t lane) const { return r.full ? r.ends : r.round == last_round(r.group, lane); }
  // The lane's last round with an item in that group, or kNoRound.
  static constexpr uint32_t kNoRound = 0xFFFF'FFFF;
  uint32_t last_round(uint32_t group, uint32_t lane) const;

  uint32_t members(uint32_t group) const { return group_at(group).members; }  // heads per group
  uint32_t head_of(uint32_t group, uint32_t member) const {                   // b * heads + h
    const HeadGroup& g = group_at(group);
    return member < g.heads ? g.head + member : head_of(g, member);
  }
  uint32_t items() const { return last_item_ - first_item_; }  // of this cluster
  uint32_t most_keys() const { return cut_.most_keys(); }      // maximum per item
  bool in_runs() const { return cut_.in_runs(); }              // an item's keys may be in several ranges

 private:
  // Caches of recent items and groups, because divisions are slow.
  static constexpr uint32_t kItems = 64, kMostKept = 8, kGroups = 8;
  struct HeadGroup {
    uint32_t number = kNoRound;
    uint32_t first, last;  // items that belong to this cluster
    uint32_t members, rounds;
    uint32_t batch, first_head;  // of the first member
    uint32_t head, heads;        // batch and head combined; heads per batch
    uint32_t before, after;      // items of all clusters up to the group's start, and up to its end
    uint32_t turn;               // of lane 0
    bool whole;                  // all of its items belong to this cluster
    bool full;                   // every lane has an item in every round
    bool back;                   // lanes are in reverse order in rounds 0, 2, ...
  };
  const HeadGroup& group_at(uint32_t group) const {
    HeadGroup& g = group_[group % kGroups];
    if (g.number != group) look_up(g, group);
    return g;
  }
  uint32_t head_of(const HeadGroup& g, uint32_t member) const {
    return g.head + member / g.heads * heads_ + member % g.heads;
  }
  [[gnu::always_inline]] void make_round(Round& r, uint32_t group, uint32_t round, uint32_t index) const {
    const HeadGroup& g = group_at(group);
    r.group = group, r.round = round, r.index = index;
    r.kept = &item_[(index & (kept_ - 1)) * lanes_];
    r.valid = true;
    r.full = !rt_.is_heterogeneous() && (g.full || round + 2 < g.rounds);
    r.ends = round + 1 >= g.rounds;
  }
  [[gnu::noinline]] void look_up(HeadGroup& g, uint32_t group) const;
  [[gnu::noinline]] void keep(const Round& r) const;
  void make(Item& item, const HeadGroup& g, uint32_t round, uint32_t lane) const;
  void make_heterogeneous(Item& item, const HeadGroup& g, uint32_t round, uint32_t lane) const;
  uint32_t block_at(uint32_t place) const { return cut_.uneven() ? blocks_ - 1 - place : place; }
  uint32_t items_before(uint32_t group) const;  // over all clusters
  uint32_t parts_of_a_group(const RowTiling& tiling) const;
  template <typename Scores>
  uint32_t begin_of_part(uint32_t part, uint32_t parts, const Scores& scores) const;

  Runtime& rt_;
  uint32_t lanes_, batch_, heads_, bb_, hh_;
#if ATTNVP_HETEROGENEOUS_CORES
  Window window_;
  uint32_t nq_;
#endif
  RowBlocks cut_;
  uint32_t blocks_;
  uint32_t head_groups_;  // groups along the head dimension
  uint32_t all_groups_;
  uint32_t first_group_ = 0, groups_ = 0;
  uint32_t first_item_ = 0, last_item_ = 0;
  uint32_t kept_ = kMostKept;  // cached rounds
  mutable HeadGroup group_[kGroups];
  mutable Item item_[kItems];  // last, because load and store offsets reach only 2 KiB
};

// The item's rows of a tensor in DRAM: [batch, heads, seq_q, columns].
Matrix dram_rows(const Runtime& rt, uint64_t tensor, const Item& item, uint32_t columns,
                 hal::ElementType type = hal::ElementType::kFp16);
inline Matrix dram_q(const Runtime& rt, const Item& item) {
  return dram_rows(rt, rt.layer().q, item, rt.layer().emb, rt.type());
}
inline Matrix dram_o(const Runtime& rt, const Item& item) {
  return dram_rows(rt, rt.layer().o, item, rt.value_emb(), rt.out_type());
}

// Scores of the item's keys in DRAM: [batch, heads, seq_q, seq_kv]. Rows of P have the stride of rows of C.
Matrix dram_scores(const Runtime& rt, uint64_t tensor, const Item& item, hal::ElementType type);
// Masks a softmax command, if the mask requires it, whose first row and column are query `row` and key `key`.
void mask(const hal::Mask& mask, const hal::BlockMask& map, Command& softmax, uint32_t row, uint32_t key);
inline void mask(const Runtime& rt, Command& softmax, uint32_t row, uint32_t key) {
  mask(rt.mask(), rt.map(), softmax, row, key);
}
// Position of a part in the sum over an item's keys.
Accumulate place_of(const KeyBlocks::KeyPart& part);

// Number of row blocks of seq_q rows: a multiple of `workers` if there are enough passes of `unit` rows.
uint32_t row_blocks(uint32_t seq_q, uint32_t nq, uint32_t unit, uint32_t workers);

}  // namespace attnvp::firmware
