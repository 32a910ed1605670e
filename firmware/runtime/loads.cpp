#include "firmware/runtime/loads.h"

namespace attnvp::firmware {

namespace {
constexpr uint32_t kPositions = 5;
constexpr uint32_t kAll = 0xFFFF'FFFF;
constexpr uint32_t kFarEnough = 8;  // descriptors in the queue: more gains nothing
}  // namespace

const Loads::Step Loads::kLagging[] = {kV, kRows, kFirstK, kRest, kK};
const Loads::Step Loads::kTogether[] = {kRows, kFirstK, kRest, kK, kV};

// Those of a resident K or V in its group's first round.
[[gnu::always_inline]] inline void Loads::take_blocks(KvBuffer* buffer, const Work::Round& round, uint32_t first,
                                                      uint32_t end) {
  if (!round.valid || round.round != 0 || buffer == nullptr || buffer->streamed()) return;
  buffer_ = buffer;
  group_ = round.group;
  block_ = first;
  end_block_ = min(end, buffer->blocks());
  size_ = work_.members(round.group);
}

void Loads::next_iteration() {
  lagging_[iteration_++ % kMaxLag] = front_;
  const bool ends = front_.valid;
  front_ = work_.after(front_);
  if (ends && !front_.valid) end_ = iteration_ + order_.v_lag;
  done_ = !front_.valid && iteration_ >= end_;
}

// What there is to be loaded in the step at hand.
[[gnu::always_inline]] inline void Loads::begin_step() {
  size_ = 0;
  switch (steps_[position_]) {
    case kV:
      return take_blocks(v_, back(), 0, kAll);
    case kFirstK:
      return take_blocks(k_, front_, 0, 1);
    case kK:
      return take_blocks(k_, front_, 1, kAll);
    case kRest:
      buffer_ = nullptr;
      if (k_ != nullptr) size_ = attention_.rest_of_q(front_);
      return;
    case kRows:
      buffer_ = nullptr;
      if (front_.valid) size_ = work_.lanes();
      return;
  }
}

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
      k_position_(order.v_lag > 0 ? 4 : 3),
      v_position_(order.v_lag > 0 ? 0 : 4),
      streamed_((k != nullptr && k->streamed()) || (v != nullptr && v->streamed())),
      done_(false),
      front_(work.first()) {
  done_ = !front_.valid;
  if (!done_) begin_step();
}

[[gnu::always_inline]] inline void Loads::next_step() {
  if (++position_ == kPositions) {
    position_ = 0;
    next_iteration();
  }
  begin_step();
}

// The next load, or nothing, where a step has none left.
[[gnu::always_inline]] inline void Loads::issue_one() {
  if (size_ > 0) {
    if (buffer_ != nullptr) {
      if (block_ < end_block_) return buffer_->load(group_, block_++);
    } else if (steps_[position_] == kRows) {
      (attention_.*rows_)(front_);
    } else {
      attention_.load_q_rest(front_);
    }
  }
  next_step();
}

// A streamed K or V goes through the same channel when it is used: rows that wait for a buffer must not stand in its
// way.
[[gnu::always_inline]] inline bool Loads::may_run_ahead() const {
  const uint32_t now = max(c_needed_, o_needed_);  // rounds that the dataflow has begun
  return !streamed_ || iteration_ + 1 < now + order_.row_buffers;
}

void Loads::issue_until(uint32_t iteration, uint32_t position) {
  while (rt_.ok() && !done_ && (iteration_ < iteration || (iteration_ == iteration && position_ <= position))) {
    issue_one();
  }
}

void Loads::pump() {
  while (order_.ahead && rt_.ok() && !done_ && may_run_ahead()) {
    const uint32_t level = rt_.dma_level(kLoadChannel);
    if (level >= kFarEnough || level + size_ > rt_.machine().dma_queue_depth) return;
    issue_one();
  }
}

}  // namespace attnvp::firmware
