#include "firmware/runtime/attention/kv_buffer.h"

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
      emb_(dram == rt.layer().k ? rt.layer().emb : rt.value_emb()),
      stride_(emb_ * rt.bytes()),
      nkv_(t.nkv),
      blocks_(cut_.count()),
      slots_(streamed_ ? kStreamSlots : t.kv_buffers),
      slot_rows_(streamed_ ? nkv_ : rows_),
      members_(t.bb * t.hh),
      whole_(!streamed_ && members_ == 1 && !rt.mask().any() && channel < rt.machine().dma_channels) {
  if (work.lanes() > kMaxLanes) rt.fail(Status::kBadJob);
  for (uint32_t lane = 0; rt.ok() && lane < work.lanes(); ++lane) taken_group_[lane] = 0;
  if (blocks_ > hal::kMaxTokens) rt.refuse(RowTiling::kNkv, nkv_);  // limit of a single wait
  const uint64_t member_bytes = uint64_t{slot_rows_} * stride_;
  head_bytes_ = uint64_t{all_keys_} * stride_;
  member_bytes_ = static_cast<uint32_t>(member_bytes);  // L1 is below 4 GiB
  slot_bytes_ = members_ * member_bytes_;
  address_ =
      rt.allocate(uint64_t{slots_} * members_ * member_bytes, dram == rt.layer().k ? L1Region::kK : L1Region::kV);
  ready_ = rt.events(work.lanes());
  free_ = rt.events(work.lanes(), slots_);
  ready_ref_ = hal::event_ref(ready_.first, ready_.span, 1);
  free_ref_ = hal::event_ref(free_.first, free_.span, 1);
  if (streamed_ && rt.stages()) reserve_stage();
}

uint64_t KvBuffer::slot_address(uint32_t slot, uint32_t member) const {
  return address_ + (slot * members_ + member) * member_bytes_;
}

Matrix KvBuffer::rows(uint32_t group, uint32_t member, uint32_t block) const {
  if (streamed_) {
    return {slot_address(in_turn(streamed_loads_ - 1, slots_), member), block_rows(block), emb_, stride_, rt_.type()};
  }
  return run(group, member, block_row(block), block_rows(block));
}

Matrix KvBuffer::rows(uint32_t group, uint32_t member, uint32_t block, const KeyBlocks::KeyPart& part) const {
  return rows_of(rows(group, member, block), part.key - block_row(block), part.keys);
}

Matrix KvBuffer::run(uint32_t group, uint32_t member, uint32_t key, uint32_t keys) const {
  return {slot_address(in_turn(group, slots_), member) + cut_.place(key) * stride_, keys, emb_, stride_, rt_.type()};
}

bool KvBuffer::needed(const Work::Round& i, uint32_t block) const {
  for (uint32_t lane = 0; lane < work_.lanes(); ++lane) {
    const Item item = work_.item(i, lane);
    if (item.valid && part(item, block).any()) return true;
  }
  return false;
}

void KvBuffer::make_load() {
  load_.begin(hal::Opcode::kCopy).operand(0, {dram_, 0, emb_, stride_, rt_.type()});
  made_ = true;
  load_.operand(1, {address_, 0, emb_, stride_, rt_.type()}).raw().tail.copy.planes = 1;
}

// For a group of one head without masked keys.
void KvBuffer::issue_whole(uint32_t group, uint32_t block) {
  constexpr auto kDestination = (offsetof(Descriptor, operand) + sizeof(hal::Operand)) / sizeof(Command::Word);
  const uint32_t head = work_.head_of(group, 0), key = block * nkv_, from = key * stride_;
  Descriptor& d = load_.raw();
  d.rows = min(nkv_, all_keys_ - key);
  d.row_block = block;
  d.head = static_cast<std::uint16_t>(head);
  d.operand[0].address = dram_ + from + head * head_bytes_;
  load_.words()[kDestination] = resident_at(group) + from;
  d.wait[0] = block == 0 ? free_ref_ : hal::EventRef{};
  d.signal[0] = ready_ref_;
  rt_.again(rt_.dma_queue(channel_), load_);
}

void KvBuffer::issue(uint32_t group, uint32_t block) {
  if (!made_) {
    if (stage_ != 0) return issue_staged(group, block);
    make_load();
  }
  if (whole_ && !rt_.in_lock_step()) return issue_whole(group, block);
  issue_members(group, block, [this](uint32_t head, uint32_t /*member*/) { return dram_ + head * head_bytes_; });
}

// Loads one sub-block of all members; the last member's copy signals the lanes. `source`: address of a member.
template <typename Source>
[[gnu::always_inline]] inline void KvBuffer::issue_members(uint32_t group, uint32_t block, const Source& source) {
  constexpr auto kDestination = (offsetof(Descriptor, operand) + sizeof(hal::Operand)) / sizeof(Command::Word);
  const uint32_t members = members_ == 1 ? 1 : work_.members(group), key = block_row(block);
  const hal::EventRef free = streamed_ || block == 0 ? free_ref_ : hal::EventRef{};
  uint32_t head = work_.head_of(group, 0);
  uint32_t to = place(group, 0, block, key);
  Descriptor& d = load_.raw();
  d.rows = block_rows(block);
  d.row_block = block;
  for (uint32_t m = 0;;) {
    d.head = static_cast<std::uint16_t>(head);
    d.operand[0].address = source(head, m) + key * stride_;
    load_.words()[kDestination] = to;
    load_.events(m == 0 ? free : hal::EventRef{}, m + 1 == members ? ready_ref_ : hal::EventRef{});
    rt_.dma(channel_, load_);
    if (++m == members) return;
    head = work_.head_of(group, m);
    to += member_bytes_;
  }
}

// A group with a single round is read once and is not staged.
void KvBuffer::reserve_stage() {
  for (uint32_t group = 0; stage_ == 0 && group < work_.groups(); ++group) {
    if (work_.rounds(group) > 1) stage_ = rt_.stage(members_ * head_bytes_);
  }
}

void KvBuffer::issue_staged(uint32_t group, uint32_t block) {
  make_load();
  made_ = false;  // so that the next load is prepared here, too
  const bool here = work_.rounds(group) > 1;
  if (here && staged_ != group + 1) fill_stage(group);
  issue_members(group, block, [this, here](uint32_t head, uint32_t member) {
    return here ? stage_ + member * head_bytes_ : dram_ + head * head_bytes_;
  });
}

// Copies all keys that any query needs, one copy per contiguous range. A channel's writes follow its reads; a fence
// orders the later loads after the copies.
void KvBuffer::fill_stage(uint32_t group) {
  staged_ = group + 1;
  for (uint32_t member = 0; member < work_.members(group); ++member) {
    const uint32_t head = work_.head_of(group, member);
    for (uint32_t block = 0; block < blocks_;) {
      const uint32_t key = block_row(block);
      uint32_t keys = block_rows(block);
      while (++block < blocks_ && block_row(block) == key + keys) keys += block_rows(block);
      const uint64_t at = uint64_t{key} * stride_;
      Command command = copy({dram_ + head * head_bytes_ + at, keys, emb_, stride_, rt_.type()},
                             {stage_ + member * head_bytes_ + at, keys, emb_, stride_, rt_.type()});
      command.raw().head = static_cast<std::uint16_t>(head);
      rt_.dma(channel_, command);
    }
  }
  rt_.dma(channel_, fence());
}

void KvBuffer::load_block(uint32_t group, uint32_t block) {
  if (!streamed_) return;
  ++streamed_loads_;
  issue(group, block);
}

void KvBuffer::pass_tokens(const Work::Round& i, uint32_t lane, uint32_t core, uint32_t block) {
  if (!streamed_) {
    // Once per group: in the round of the lane's last item, or in the first round if it has none.
    const uint32_t last = work_.last_round(i.group, lane);
    if (block + 1 != blocks_ || i.round != (last == Work::kNoRound ? 0 : last)) return;
    if (i.round == 0 && work_.is_last(i)) ++unread_;
  }
  Command nothing = fence();
  acquire(nothing, lane, i.group, block);
  release(nothing, lane);
  rt_.mac(core, nothing);
}

// Rows of later rounds follow K or V on the channel and are waited for, so only the last group can remain unread.
uint32_t KvBuffer::tell_unread(Events then) const {
  if (unread_ < work_.lanes()) return 0;
  Command there(hal::Opcode::kNop);
  there.then(then);
  for (uint32_t lane = 0; lane < work_.lanes(); ++lane) rt_.mac(lane, there);  // after the tokens are passed on
  return work_.lanes();
}

}  // namespace attnvp::firmware
