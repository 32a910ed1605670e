#include "firmware/runtime/loads.h"

namespace attnvp::firmware {

namespace {
constexpr uint32_t kPositions = 5;
constexpr uint32_t kAll = 0xFFFF'FFFF;
constexpr uint32_t kFarEnough = 8;  // descriptors in the queue: more gains nothing
}  // namespace

const Loads::Step Loads::kLagging[] = {kV, kRows, kFirstK, kRest, kK};
const Loads::Step Loads::kTogether[] = {kRows, kFirstK, kRest, kK, kV};

Loads::Loads(Runtime& rt, const Work& work, Attention& attention, LoadRows rows, KvBuffer* k, KvBuffer* v,
             const Order& order)
    : rt_(rt),
      work_(work),
      attention_(attention),
      rows_(rows),
      k_(k),
      v_(v),
      order_(order),
      steps_(order.v_lag > 0 ? kLagging : kTogether),
      streamed_((k != nullptr && k->streamed()) || (v != nullptr && v->streamed())),
      front_(work.first()) {
  done_ = !front_.valid;
}

// These few are the loops of pump() and issue_until(): calls of them would take a small processor longer than
// themselves.
[[gnu::always_inline]] inline void Loads::next_position() {
  ++position_;
  block_ = 0;
  if (position_ == kPositions) {
    position_ = 0;
    lagging_[iteration_++ % kMaxLag] = {front_.group, front_.round, front_.index, front_.valid};
    const bool ends = front_.valid;
    front_ = work_.after(front_);
    if (ends && !front_.valid) end_ = iteration_ + order_.v_lag;
    done_ = !front_.valid && iteration_ >= end_;
  }
  if (steps_[position_] == kK) block_ = 1;
}

// The next sub-block before `end` of a resident K or V in its group's first round. False when there is none.
[[gnu::always_inline]] inline bool Loads::load_kv(KvBuffer* buffer, const Work::Round& round, uint32_t end) {
  if (buffer == nullptr || buffer->streamed() || !round.valid || round.round != 0) return false;
  if (block_ >= min(end, buffer->blocks())) return false;
  buffer->load(round.group, block_++);
  return true;
}

[[gnu::always_inline]] inline void Loads::issue_one() {
  switch (steps_[position_]) {
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
      if (k_ != nullptr && attention_.rest_of_q(front_) > 0) attention_.load_q_rest(front_);
      break;
    case kRows:
      if (front_.valid) (attention_.*rows_)(front_);
      break;
  }
  next_position();
}

// Descriptors that issue_one may put into the queue.
[[gnu::always_inline]] inline uint32_t Loads::step_size() const {
  const Step step = steps_[position_];
  if (step == kRows) return work_.lanes();
  if (step == kRest) return k_ != nullptr ? attention_.rest_of_q(front_) : 0;
  const Work::Round& round = step == kV ? back() : front_;
  return round.valid ? work_.members(round.group) : 0;
}

// A streamed K or V goes through the same channel when it is used: rows that wait for a buffer must not stand in its
// way.
[[gnu::always_inline]] inline bool Loads::may_run_ahead() const {
  const uint32_t now = max(c_needed_, o_needed_);  // rounds that the dataflow has begun
  return !streamed_ || iteration_ + 1 < now + order_.row_buffers;
}

void Loads::issue_until(uint32_t iteration, Step step) {
  while (rt_.ok() && !done_) {
    if (iteration_ > iteration) return;
    if (iteration_ == iteration) {
      uint32_t wanted = 0;
      while (steps_[wanted] != step) ++wanted;
      if (position_ > wanted) return;
    }
    issue_one();
  }
}

void Loads::pump() {
  while (order_.ahead && rt_.ok() && !done_ && may_run_ahead()) {
    const uint32_t level = rt_.dma_level(kLoadChannel);
    if (level >= kFarEnough || level + step_size() > rt_.machine().dma_queue_depth) return;
    issue_one();
  }
}

}  // namespace attnvp::firmware
