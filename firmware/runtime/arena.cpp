#include "firmware/runtime/arena.h"

namespace attnvp::firmware {

uint64_t Arena::allocate(uint64_t bytes, L1Region region) {
  const uint64_t size = round_up(bytes, 64);
  uint64_t gap = 0;
  uint32_t at = 0;
  for (; at < count_ && blocks_[at].offset - gap < size; ++at) gap = blocks_[at].offset + blocks_[at].bytes;
  if (count_ == kMaxBlocks || gap + size > rt_.machine().l1_bytes) return 0;
  for (uint32_t i = count_; i > at; --i) blocks_[i] = blocks_[i - 1];
  blocks_[at] = {gap, size, region};
  ++count_;
  used_ += size;
  rt_.note_allocated(used_, region);
  return hal::l1_base(rt_.cluster()) + gap;
}

void Arena::free(uint64_t address) {
  const uint64_t offset = address - hal::l1_base(rt_.cluster());
  for (uint32_t i = 0; i < count_; ++i) {
    if (blocks_[i].offset != offset) continue;
    const L1Region region = blocks_[i].region;
    used_ -= blocks_[i].bytes;
    --count_;
    for (; i < count_; ++i) blocks_[i] = blocks_[i + 1];
    rt_.note_allocated(used_, region);
    return;
  }
}

uint64_t StripPool::allocate(uint32_t generation) {
  for (StripSlot& slot : slots_) {
    if (slot.address == 0 || slot.generation != generation || slot.taken == slot.capacity) continue;
    return slot.address + uint64_t{slot.taken++} * strip_bytes_;
  }
  const uint64_t strip = open(generation, slot_bytes_);
  return strip != 0 ? strip : open(generation, strip_bytes_);  // a gap smaller than a tensor may hold a strip
}

// Opens a slot and returns its first strip.
uint64_t StripPool::open(uint32_t generation, uint64_t bytes) {
  for (StripSlot& slot : slots_) {
    if (slot.address != 0) continue;
    const uint64_t address = arena_.allocate(bytes, L1Region::kScores);
    if (address != 0) slot = {address, generation, static_cast<uint32_t>(bytes / strip_bytes_), 1, 0};
    return address;
  }
  return 0;
}

void StripPool::free(uint64_t strip) {
  for (StripSlot& slot : slots_) {
    if (slot.address == 0 || strip < slot.address || strip >= slot.address + slot.capacity * strip_bytes_) continue;
    if (++slot.freed < slot.taken) return;
    arena_.free(slot.address);
    slot.address = 0;
    return;
  }
}

}  // namespace attnvp::firmware
