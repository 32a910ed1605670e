#include "firmware/runtime/loads.h"

namespace attnvp::firmware {

namespace {
constexpr uint32_t kPositions = 5;
constexpr uint32_t kAll = 0xFFFF'FFFF;
constexpr uint32_t kFarEnough = 8;  // descriptors in the queue: more gains nothing
}  // namespace

Loads::Loads(Runtime& rt, const Work& work, Attention& attention, LoadRows rows, KvBuffer* k, KvBuffer* v,
             const Order& order)
    : rt_(rt), work_(work), attention_(attention), rows_(rows), k_(k), v_(v), order_(order), front_(work.first()) {}

Loads::Step Loads::step_at(uint32_t position) const {
  constexpr Step kLagging[kPositions] = {kV, kRows, kFirstK, kRest, kK};
  constexpr Step kTogether[kPositions] = {kRows, kFirstK, kRest, kK, kV};
  return order_.v_lag > 0 ? kLagging[position] : kTogether[position];
}

bool Loads::done() const {
  bool any = front_.valid;
  for (uint32_t i = 0; i < order_.v_lag; ++i) any = any || lagging_[i].valid;
  return !any;
}

void Loads::next_position() {
  ++position_;
  block_ = position_ < kPositions && step_at(position_) == kK ? 1 : 0;
  if (position_ < kPositions) return;
  position_ = 0;
  ++iteration_;
  for (uint32_t i = order_.v_lag; i > 1; --i) lagging_[i - 1] = lagging_[i - 2];
  if (order_.v_lag > 0) lagging_[0] = front_;
  front_ = work_.after(front_);
}

// The next sub-block before `end` of a resident K or V in its group's first round. False when there is none.
bool Loads::load_kv(KvBuffer* buffer, const Work::Round& round, uint32_t end) {
  if (buffer == nullptr || buffer->streamed() || !round.valid || round.round != 0) return false;
  if (block_ >= min(end, buffer->blocks())) return false;
  buffer->load(round.group, block_++);
  return true;
}

void Loads::issue_one() {
  switch (step_at(position_)) {
    case kV:
      if (load_kv(v_, back(), kAll)) return;
      break;
    case kFirstK:
      if (load_kv(k_, front_, 1)) return;
      break;
    case kK:
      if (load_kv(k_, front_, kAll)) return;
      break;
    case kRest:
      if (k_ != nullptr) attention_.load_q_rest(front_);
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

// Descriptors that issue_one may put into the queue.
uint32_t Loads::step_size() const {
  const Step step = step_at(position_);
  if (step == kRows) return work_.lanes();
  if (step == kRest) return k_ != nullptr ? attention_.rest_of_q(front_) : 0;
  const Work::Round& round = step == kV ? back() : front_;
  return round.valid ? work_.members(round.group) : 0;
}

// A streamed K or V goes through the same channel when it is used: rows that wait for a buffer must not stand in its
// way.
bool Loads::may_run_ahead() const {
  const bool streamed = (k_ != nullptr && k_->streamed()) || (v_ != nullptr && v_->streamed());
  const uint32_t now = max(c_needed_, o_needed_);  // rounds that the dataflow has begun
  return !streamed || iteration_ + 1 < now + order_.row_buffers;
}

void Loads::pump() {
  while (order_.ahead && rt_.ok() && !done() && may_run_ahead()) {
    const uint32_t level = rt_.dma_level(kLoadChannel);
    if (level >= kFarEnough || level + step_size() > rt_.machine().dma_queue_depth) return;
    issue_one();
  }
}

}  // namespace attnvp::firmware
