#include "firmware/runtime/attention/strip_pool.h"

namespace attnvp::firmware {

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
