#include "firmware/runtime/loads.h"

namespace attnvp::firmware {

namespace {
constexpr uint32_t kPositions = 5;
constexpr uint32_t kAll = 0xFFFF'FFFF;
constexpr uint32_t kFarEnough = 8;  // descriptors in the queue; a longer queue has no benefit
}  // namespace

const Loads::Step Loads::kLagging[] = {kV, kRows, kFirstK, kRest, kK};
const Loads::Step Loads::kTogether[] = {kRows, kFirstK, kRest, kK, kV};

void Loads::next_iteration() {
  lagging_[iteration_++ % kMaxLag] = begins_group();
  const bool ends = front_.valid;
  work_.advance(front_);
  if (ends && !front_.valid) end_ = iteration_ + order_.v_lag;
  done_ = !front_.valid && iteration_ >= end_;
  look_up_blocks();
}

// Number of loads of the current step.
[[gnu::always_inline]] inline void Loads::begin_step() {
  block_ = 0;
  switch (steps_[position_]) {
    case kV:
      left_ = v_blocks_;
      return;
    case kRows:
      left_ = front_.valid ? 1 : 0;
      return;
    case kFirstK:
      left_ = k_blocks_ != 0 ? 1 : 0;
      return;
    case kRest:
      left_ = k_ != nullptr && attention_.rest_of_q(front_) > 0 ? 1 : 0;
      return;
    case kK:
      block_ = 1;
      left_ = k_blocks_ != 0 ? k_blocks_ - 1 : 0;
      return;
  }
}

[[gnu::always_inline]] inline void Loads::next_step() {
  if (++position_ == kPositions) {
    position_ = 0;
    next_iteration();
  }
  begin_step();
}

Loads::Loads(Runtime& rt, const Work& work, AttentionSteps& attention, LoadRows rows, KvBuffer* k, KvBuffer* v,
             const LoadOrder& order)
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
      front_(work.first()) {
  done_ = !front_.valid;
  look_up_blocks();
  if (!done_) begin_step();
}

void Loads::issue() {
  switch (steps_[position_]) {
    case kV:
      v_->load(v_arrives() - 1, block_++);
      break;
    case kFirstK:
    case kK:
      k_->load(front_.group, block_++);
      break;
    case kRest:
      attention_.load_q_rest(front_);
      return next_step();
    case kRows:
      (attention_.*rows_)(front_);
      return next_step();
  }
  --left_;
}

// Number of descriptors that the next load enqueues.
[[gnu::always_inline]] inline uint32_t Loads::size() const {
  if (left_ == 0) return 0;
  const Step step = steps_[position_];
  if (step == kRows) return work_.lanes();
  if (step == kRest) return attention_.rest_of_q(front_);
  return work_.members(step == kV ? v_arrives() - 1 : front_.group);
}

// Streamed K or V uses the same channel, so rows that wait for a buffer must not block it.
[[gnu::always_inline]] inline bool Loads::may_run_ahead() const {
  if (!streamed_) return true;
  const uint32_t now = max(c_needed_, o_needed_);  // rounds that the dataflow has begun
  return iteration_ + 1 < now + order_.row_buffers;
}

void Loads::issue_until(uint32_t iteration, uint32_t position) {
  while (rt_.ok() && !done_ && (iteration_ < iteration || (iteration_ == iteration && position_ <= position))) {
    left_ > 0 ? issue() : next_step();
  }
}

void Loads::pump() {
  if (!order_.ahead) return;
  while (!done_ && rt_.ok() && may_run_ahead()) {
    const uint32_t level = rt_.dma_level(kLoadChannel);
    if (level >= kFarEnough || level + size() > rt_.machine().dma_queue_depth) return;
    left_ > 0 ? issue() : next_step();
  }
}

}  // namespace attnvp::firmware
