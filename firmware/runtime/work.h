// How a layer is cut up. A group is B_b x H_h heads whose K and V live in L1 together; its query rows are cut into
// row blocks of about N_Q rows, in whole passes of the MAC array where possible. An item is one row block of one
// head: what one lane does at a time. A lane is a core, or a few cores that pass an item on to each other. Items are
// dealt to the lanes in turn (starting with another lane in every group, so that uneven blocks even out); a round is
// one item for each lane. Clusters share all items evenly.
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
  uint32_t key = 0;   // first key that the rows attend to,
  uint32_t keys = 0;  // and how many
};

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
  uint32_t items_before(uint32_t group) const;  // global
  Span span(uint32_t group) const;

  uint32_t lanes_, batch_, heads_, bb_, hh_;
  uint32_t rows_, keys_, row_unit_, blocks_;
  uint32_t head_groups_;  // groups along the head dimension
  uint32_t all_groups_;
  uint32_t first_group_ = 0, groups_ = 0;
  uint32_t first_item_ = 0, last_item_ = 0;
  mutable Memo memo_[kMemos];
};

// The item's rows of a tensor in DRAM: [batch, heads, seq_q, columns].
Matrix dram_rows(const Runtime& rt, uint64_t tensor, const Item& item, uint32_t columns);

// Row blocks that seq_q rows are cut into: a multiple of `workers` where there are enough passes of `unit` rows.
uint32_t row_blocks(uint32_t seq_q, uint32_t nq, uint32_t unit, uint32_t workers);

}  // namespace attnvp::firmware
