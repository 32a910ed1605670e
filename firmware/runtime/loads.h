// Load scheduler of a fused dataflow. It issues loads on one DMA channel in the order in which computation needs them,
// as early as buffers and the channel's queue allow. Per round these are the rows (Q_i, or P_i from DRAM), in a group's
// first round K for C_i, and V for O_{i - lag}.
#pragma once

#include "firmware/runtime/attention/attention.h"

namespace attnvp::firmware {

class Loads {
 public:
  using LoadRows = void (AttentionSteps::*)(const Work::Round&);
  struct LoadOrder {
    uint32_t v_lag = 0;        // rounds between C and O in the dataflow, 0 to kMaxLag
    bool ahead = true;         // false: a load is issued only when it is needed
    uint32_t row_buffers = 1;  // per core, of the loaded rows
  };
  // `k` or `v` is nullptr if not needed.
  Loads(Runtime& rt, const Work& work, AttentionSteps& attention, LoadRows rows, KvBuffer* k, KvBuffer* v,
        const LoadOrder& order);

  // Ensures that the loads for the next C (O) in the dataflow's order are in the queue. For C, need_for_c covers the
  // first command and rest_for_c the others.
  void need_for_c() { need(c_needed_++, k_position_); }
  void rest_for_c() {
    if (c_needed_ > 0) need(c_needed_ - 1, k_position_);
  }
  void need_for_o() { need(order_.v_lag + o_needed_++, v_position_); }
  // Issues upcoming loads while the queue has space; never stalls.
  void pump();

  static constexpr uint32_t kMaxLag = 4;

 private:
  enum Step : std::uint8_t { kV, kRows, kFirstK, kRest, kK };  // of one iteration; without lag, V comes after K
  static const Step kLagging[], kTogether[];

  // 1 + the group whose V the iteration loads; 0: none.
  uint32_t v_arrives() const {
    if (order_.v_lag > 0) return lagging_[(iteration_ - order_.v_lag) % kMaxLag];
    return begins_group();
  }
  uint32_t begins_group() const { return front_.valid && front_.round == 0 ? front_.group + 1 : 0; }
  void need(uint32_t iteration, uint32_t position) {
    if (iteration_ <= iteration) issue_until(iteration, position);
  }
  [[gnu::noinline]] void issue_until(uint32_t iteration, uint32_t position);
  [[gnu::noinline]] void issue();
  [[gnu::noinline]] void next_iteration();
  void next_step();
  void begin_step();
  static bool resident(const KvBuffer* buffer) { return buffer != nullptr && !buffer->streamed(); }
  void look_up_blocks() {
    k_blocks_ = resident(k_) && begins_group() != 0 ? k_->blocks() : 0;
    v_blocks_ = resident(v_) && v_arrives() != 0 ? v_->blocks() : 0;
  }
  uint32_t size() const;
  bool may_run_ahead() const;

  Runtime& rt_;
  const Work& work_;
  AttentionSteps& attention_;
  LoadRows rows_;
  KvBuffer* k_;
  KvBuffer* v_;
  LoadOrder order_;
  const Step* steps_;
  uint32_t k_position_, v_position_;  // position of kK and kV in the steps
  bool streamed_, done_;
  uint32_t c_needed_ = 0, o_needed_ = 0;
  // The next load: its step within an iteration, the sub-block of K or V, and the remaining loads of the step.
  uint32_t iteration_ = 0, position_ = 0, block_ = 0, left_ = 0;
  uint32_t k_blocks_ = 0, v_blocks_ = 0;  // sub-blocks loaded in this iteration
  uint32_t end_ = 0;                      // first iteration without loads
  Work::Round front_;                     // round of the iteration's C
  uint32_t lagging_[kMaxLag] = {};        // begins_group() of the previous iterations
};

}  // namespace attnvp::firmware
