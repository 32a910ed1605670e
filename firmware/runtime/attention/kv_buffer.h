// L1 buffer for K or V, loaded in sub-blocks of N_KV rows and shared by the cluster's lanes.
//
// - Resident: space for a few groups' whole tensors; each group is loaded once, ahead of its use.
// - Streamed: a ring of sub-blocks that every round loads again. With hal::kStaged, a group with several rounds is
//   copied into L2 once, and its rounds load it from there.
//
// A lane takes one token per sub-block before it reads it and returns tokens after its last use.
#pragma once

#include "firmware/runtime/runtime.h"
#include "firmware/runtime/work.h"

namespace attnvp::firmware {

class KvBuffer {
 public:
  static constexpr uint32_t kStreamSlots = 4;  // sub-blocks in L1 when streamed

  // `dram` is the tensor's address. Allocates L1 space and events.
  KvBuffer(Runtime& rt, const Work& work, const RowTiling& tiling, uint64_t dram, uint32_t channel);

  bool streamed() const { return streamed_; }
  uint32_t blocks() const { return blocks_; }  // sub-blocks per head that at least one query attends to
  uint32_t block_row(uint32_t block) const { return cut_.row(block); }
  uint32_t block_rows(uint32_t block) const { return cut_.rows(block); }
  uint32_t most_rows() const { return min(nkv_, all_keys_); }  // of a sub-block
  KeyBlocks::KeyPart part(const Item& item, uint32_t block) const { return cut_.part(item, block); }
  KeyBlocks::KeyRun run(const Item& item, uint32_t key) const { return cut_.run(item, key); }
  uint32_t last_block(const Item& item) const {  // needed by the item
    uint32_t block = blocks_ - 1;
    while (block > 0 && !part(item, block).any()) --block;
    return block;
  }
  bool needed(const Work::Round& i, uint32_t block) const;  // by at least one lane in that round
  // Resident, before the space is freed: if no lane reads the sub-block loaded last, core l of lane l signals `then`
  // when the block has arrived. Returns the number of tokens signalled.
  [[gnu::cold, gnu::noinline]] uint32_t tell_unread(Events then) const;

  // Resident: issues the load of a sub-block of a group. The caller keeps the loads in order.
  void load(uint32_t group, uint32_t block) {
    if (streamed_) return;
    whole_&& made_ && !rt_.in_lock_step() ? issue_whole(group, block) : issue(group, block);
  }
  // Streamed: issues the load of the next sub-block of this round. Resident: no effect.
  void load_block(uint32_t group, uint32_t block);

  // Sub-block `block` of a member's rows, or the part of it that an item needs. Streamed: of the sub-block loaded last.
  Matrix rows(uint32_t group, uint32_t member, uint32_t block) const;
  Matrix rows(uint32_t group, uint32_t member, uint32_t block, const KeyBlocks::KeyPart& part) const;
  // Resident: `keys` contiguous rows from `key` on.
  Matrix run(uint32_t group, uint32_t member, uint32_t key, uint32_t keys) const;

  // Lower 32 bits of the L1 address of a member's key: resident, or in the sub-block loaded last.
  uint32_t place(uint32_t group, uint32_t member, uint32_t block, uint32_t key) const {
    const uint32_t slot = in_turn(streamed_ ? streamed_loads_ - 1 : group, slots_);
    const uint32_t row = streamed_ ? key - block_row(block) : cut_.place(key);
    return static_cast<uint32_t>(address_) + (slot * members_ + member) * member_bytes_ + row * stride_;
  }

  // Resident: lower 32 bits of the L1 address of a group of one head.
  uint32_t resident_at(uint32_t group) const {
    return static_cast<uint32_t>(address_) + in_turn(group, slots_) * slot_bytes_;
  }

  // Events of acquire() and release(), per lane, for a resident group of which every lane has acquired all.
  Events ready() const { return ready_; }
  Events free() const { return free_; }
  // Makes the command wait until the lane's sub-blocks up to `block` have arrived, unless it waited for them before.
  template <typename Made>
  void acquire(Made& command, uint32_t lane, uint32_t group, uint32_t block) {
    if (streamed_) {
      command.after(ready_.of(lane));
      return;
    }
    if (taken_group_[lane] != group + 1) {
      taken_group_[lane] = group + 1;
      taken_[lane] = 0;
    }
    if (block + 1 <= taken_[lane]) return;
    command.after(ready_.of(lane), block + 1 - taken_[lane]);
    taken_[lane] = block + 1;
  }
  // Makes the command return a token: streamed, for the sub-block; resident, for the group (at the lane's last use).
  template <typename Made>
  void release(Made& command, uint32_t lane) const {
    command.then(free_.of(lane));
  }
  // True if sub-block `block` in that round is the lane's last read of the unit that it must return.
  bool last_use(const Work::Round& i, uint32_t lane, uint32_t block) const {
    return streamed_ || (block + 1 == blocks_ && work_.is_last(i, lane));
  }
  // Passes on the tokens of a sub-block that the lane does not read, on the MAC engine of `core`.
  void pass_tokens(const Work::Round& i, uint32_t lane, uint32_t core, uint32_t block);

 private:
  [[gnu::noinline]] void make_load();
  void issue_whole(uint32_t group, uint32_t block);
  template <typename Source>
  void issue_members(uint32_t group, uint32_t block, const Source& source);
  [[gnu::cold]] void reserve_stage();
  [[gnu::cold]] void issue_staged(uint32_t group, uint32_t block);
  [[gnu::cold]] void fill_stage(uint32_t group);
  [[gnu::noinline]] void issue(uint32_t group, uint32_t block);
  uint64_t slot_address(uint32_t slot, uint32_t member) const;

  Runtime& rt_;
  const Work& work_;
  uint64_t dram_;
  uint32_t channel_;
  bool streamed_;
  KeyBlocks cut_;
  uint32_t rows_;                                    // resident rows of a head
  uint32_t all_keys_, emb_, stride_, nkv_, blocks_;  // stride: bytes per row
  uint32_t slots_;                                   // groups (resident) or sub-blocks (streamed)
  uint32_t slot_rows_;                               // rows of one member in one slot
  uint32_t members_;                                 // members per slot
  bool whole_, made_ = false;
  uint32_t member_bytes_ = 0, slot_bytes_ = 0;
  uint64_t head_bytes_ = 0;  // in DRAM
  uint64_t stage_ = 0;       // address in L2; 0: not staged
  uint32_t staged_ = 0;      // 1 + the staged group
  Command load_;             // load of a sub-block
  hal::EventRef ready_ref_{}, free_ref_{};
  uint64_t address_ = 0;
  Events ready_, free_;
  uint32_t unread_ = 0;  // resident: lanes that pass on the tokens of the last group, if it has one round
  uint32_t streamed_loads_ = 0;
  static constexpr uint32_t kMaxLanes = 64;
  // Resident: the group (counted from 1) and the number of its sub-blocks that each lane has waited for.
  uint32_t taken_group_[kMaxLanes], taken_[kMaxLanes];
};

}  // namespace attnvp::firmware
