// Bias tensor of a layer. For every command that computes scores, DMA loads the matching rectangle of addends into one
// of the lane's two L1 slots. The MAC engine adds it to the scores (hal::has_addends).
#include "firmware/runtime/runtime.h"

namespace attnvp::firmware {

namespace {
constexpr uint32_t kSlots = 2;  // one in use, one being loaded

uint64_t slot_bytes(uint32_t rows, uint32_t keys) { return round_up(uint64_t{rows} * keys * kHalfBytes, 64); }
}  // namespace

uint64_t Runtime::addend_bytes(uint32_t lanes, uint32_t rows, uint32_t keys) const {
  return added() ? lanes * kSlots * slot_bytes(rows, keys) : 0;
}

void Runtime::hold_addends(uint64_t l1, uint32_t lanes, uint32_t rows, uint32_t keys, const LoadChannels& channels) {
  if (!added()) return;
  if (lanes > kMostLanes) return fail(Status::kBadJob);
  addends_.l1 = l1;
  addends_.slot_bytes = slot_bytes(rows, keys);
  addends_.channels = channels;
  addends_.ready = events(lanes).first;
  addends_.free = events(lanes, kSlots).first;
  for (uint32_t lane = 0; lane < lanes; ++lane) addends_.turn[lane] = 0;
}

void Runtime::placed_scores(uint32_t lane, uint32_t core, Command& command, const ScorePosition& at,
                            const hal::Mask& mask) {
  place_scores(command, at, mask);
  if (!added()) return mac(core, command);
  // If the descriptor has no free event slot, a fence before it waits and a fence after it signals.
  const Events there = load_addends(lane, command, at), free{addends_.free + lane, 1};
  const bool signals = command.may_signal(in_lock_step() ? 1 : 0);
  if (command.may_wait()) {
    command.after(there);
  } else {
    mac(core, fence().after(there));
  }
  if (signals) command.then(free);
  mac(core, command);
  if (!signals) mac(core, fence().then(free));
}

// Returns the event that signals their arrival.
Events Runtime::load_addends(uint32_t lane, Command& command, const ScorePosition& at) {
  hal::Descriptor& d = command.raw();
  const uint32_t slot = addends_.turn[lane]++ % kSlots, stride = layer().seq_kv * kHalfBytes;
  Matrix held{addends_.l1 + (lane * kSlots + slot) * addends_.slot_bytes, at.rows, at.keys, at.keys * kHalfBytes};
  const uint64_t first = (uint64_t{at.head} * layer().seq_q + at.row) * stride + uint64_t{at.key} * kHalfBytes;
  Command load = copy({addends_.dram + first, at.rows, at.keys, stride}, held);
  const Events there{addends_.ready + lane, 1};
  load.after({addends_.free + lane, 1}).then(there).label(d.head, d.row_block);
  dma(addends_.channels.first + lane % addends_.channels.count, load);
  if (d.opcode == hal::Opcode::kMatmul) held.columns += d.tail.matmul.absent;
  command.operand(3, held);
  return there;
}

}  // namespace attnvp::firmware
