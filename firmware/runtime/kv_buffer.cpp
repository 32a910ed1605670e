#include "firmware/runtime/kv_buffer.h"

namespace attnvp::firmware {

KvBuffer::KvBuffer(Runtime& rt, const Work& work, const RowTiling& t, uint64_t dram, uint32_t channel)
    : rt_(rt),
      work_(work),
      dram_(dram),
      channel_(channel),
      streamed_(t.kv_buffers == hal::kWord),
      cut_(rt, t.nkv),
      rows_(cut_.places()),
      all_keys_(rt.layer().seq_kv),
      emb_(rt.layer().emb),
      nkv_(t.nkv),
      blocks_(cut_.count()),
      slots_(streamed_ ? kStreamSlots : t.kv_buffers),
      slot_rows_(streamed_ ? nkv_ : rows_),
      members_(t.bb * t.hh) {
  if (work.lanes() > kMaxLanes) rt.fail(Status::kBadJob);
  if (blocks_ > hal::kMaxTokens) rt.refuse(RowTiling::kNkv, nkv_);  // which a lane may wait for at once
  address_ = rt.allocate(uint64_t{slots_} * members_ * slot_rows_ * emb_ * kHalfBytes,
                         dram == rt.layer().k ? L1Region::kK : L1Region::kV);
  ready_ = rt.events(work.lanes());
  free_ = rt.events(work.lanes(), slots_);
}

uint64_t KvBuffer::slot_address(uint32_t slot, uint32_t member) const {
  return address_ + (uint64_t{slot} * members_ + member) * slot_rows_ * emb_ * kHalfBytes;
}

Matrix KvBuffer::rows(uint32_t group, uint32_t member, uint32_t block) const {
  const uint32_t stride = emb_ * kHalfBytes;
  if (streamed_) return {slot_address((streamed_loads_ - 1) % slots_, member), block_rows(block), emb_, stride};
  return run(group, member, block_row(block), block_rows(block));
}

Matrix KvBuffer::rows(uint32_t group, uint32_t member, uint32_t block, const KeyBlocks::Part& part) const {
  return rows_of(rows(group, member, block), part.key - block_row(block), part.keys);
}

Matrix KvBuffer::run(uint32_t group, uint32_t member, uint32_t key, uint32_t keys) const {
  const uint32_t stride = emb_ * kHalfBytes;
  return {slot_address(group % slots_, member) + uint64_t{cut_.place(key)} * stride, keys, emb_, stride};
}

uint32_t KvBuffer::last_block(const Item& item) const {
  uint32_t block = blocks_ - 1;
  while (block > 0 && !part(item, block).any()) --block;
  return block;
}

bool KvBuffer::needed(const Work::Round& i, uint32_t block) const {
  for (uint32_t lane = 0; lane < work_.lanes(); ++lane) {
    const Item item = work_.item(i.group, i.round, lane);
    if (item.valid && part(item, block).any()) return true;
  }
  return false;
}

// One sub-block of all members; the last member's copy tells the lanes.
void KvBuffer::issue(uint32_t group, uint32_t block) {
  const uint32_t stride = emb_ * kHalfBytes;
  const uint32_t members = work_.members(group);
  for (uint32_t m = 0; m < members; ++m) {
    const uint64_t row = uint64_t{work_.head_of(group, m)} * all_keys_ + block_row(block);
    const Matrix from{dram_ + row * stride, block_rows(block), emb_, stride};
    Command command = copy(from, rows(group, m, block)).label(work_.head_of(group, m), block);
    if (m == 0 && (streamed_ || block == 0)) command.after(free_);
    if (m + 1 == members) command.then(ready_);
    rt_.dma(channel_, command);
  }
}

void KvBuffer::load(uint32_t group, uint32_t block) {
  if (!streamed_) issue(group, block);
}

void KvBuffer::load_block(uint32_t group, uint32_t block) {
  if (!streamed_) return;
  ++streamed_loads_;
  issue(group, block);
}

void KvBuffer::acquire(Command& command, uint32_t lane, uint32_t group, uint32_t block) {
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

bool KvBuffer::last_use(const Work::Round& i, uint32_t lane, uint32_t block) const {
  return streamed_ || (block + 1 == blocks_ && i.round == work_.last_round(i.group, lane));
}

void KvBuffer::pass_tokens(const Work::Round& i, uint32_t lane, uint32_t core, uint32_t block) {
  if (!streamed_) {
    // Once a group: behind the lane's last item in it, or where it has none.
    const uint32_t last = work_.last_round(i.group, lane);
    if (block + 1 != blocks_ || i.round != (last == Work::kNoRound ? 0 : last)) return;
  }
  Command nothing = fence();
  acquire(nothing, lane, i.group, block);
  release(nothing, lane);
  rt_.mac(core, nothing);
}

}  // namespace attnvp::firmware
