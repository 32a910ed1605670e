#include "firmware/runtime/loads.h"

namespace attnvp::firmware {

namespace {
constexpr uint32_t kPositions = 3;
constexpr uint32_t kQueueRoom = 8;  // descriptors: further ahead there is nothing to gain
}  // namespace

Loads::Loads(Runtime& rt, const Work& work, Attention& attention, LoadRows rows, KvBuffer* k, KvBuffer* v,
             uint32_t v_lag, bool ahead)
    : rt_(rt), work_(work), attention_(attention), rows_(rows), k_(k), v_(v), v_lag_(v_lag), ahead_(ahead), front_(work.first()) {}

Loads::Step Loads::step_at(uint32_t position) const {
  constexpr Step kLagging[kPositions] = {kV, kRows, kK};
  constexpr Step kTogether[kPositions] = {kRows, kK, kV};
  return v_lag_ > 0 ? kLagging[position] : kTogether[position];
}

void Loads::next_position() {
  block_ = 0;
  if (++position_ < kPositions) return;
  position_ = 0;
  ++iteration_;
  for (uint32_t i = v_lag_; i > 1; --i) lagging_[i - 1] = lagging_[i - 2];
  if (v_lag_ > 0) lagging_[0] = front_;
  front_ = work_.after(front_);
}

// One sub-block of a resident K or V in its group's first round. False when there is nothing (more) to load.
bool Loads::load_kv(KvBuffer* buffer, const Work::Round& round) {
  if (buffer == nullptr || buffer->streamed() || !round.valid || round.round != 0) return false;
  if (block_ == buffer->blocks()) return false;
  buffer->load(round.group, block_++);
  return true;
}

void Loads::issue_one() {
  switch (step_at(position_)) {
    case kV:
      if (load_kv(v_, back())) return;
      break;
    case kK:
      if (load_kv(k_, front_)) return;
      break;
    case kRows:
      if (front_.valid) (attention_.*rows_)(front_);
      break;
  }
  next_position();
}

void Loads::issue_until(uint32_t iteration, Step step) {
  while (rt_.ok() && !done()) {
    if (iteration_ > iteration) return;
    if (iteration_ == iteration) {
      uint32_t wanted = 0;
      while (step_at(wanted) != step) ++wanted;
      if (position_ > wanted) return;
    }
    issue_one();
  }
}

void Loads::pump() {
  while (ahead_ && rt_.ok() && !done()) {
    if (rt_.dma_level(kLoadChannel) >= kQueueRoom) return;
    issue_one();
  }
}

}  // namespace attnvp::firmware
