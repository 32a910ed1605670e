// The VEC engine with its datapath in RTL: queue, events, L1 and L0 traffic are the model's; rows go through a clocked
// vec_unit. A row is fed while it is loaded from L1; the execute stage goes on with the next when its traffic has been
// and the unit's second pass has read the row; the last stage waits for the unit's last result.
#pragma once

#include <deque>
#include <memory>

#include "models/vec_engine/vec_engine.h"
#include "rtl/vec/rtl_vec_unit.h"

namespace attnvp::rtl {

class RtlVecEngine : public VecEngine {
 public:
  RtlVecEngine(sc_core::sc_module_name name, Context& context, const VecConfig& config, std::uint64_t l0_share_bytes,
               const Place& place);
  void reset() override;

 protected:
  bool run_fill(const hal::Descriptor& descriptor, const Plan& plan, StreamPayload& payload) override;
  bool run_body(const hal::Descriptor& descriptor, const Plan& plan) override;
  bool run_last(const hal::Descriptor& descriptor, const Plan& plan) override;
  void await_result(const hal::Descriptor& descriptor, std::uint64_t drain_at) override;
  void abandon() override;
  void compute_values(const hal::Descriptor& descriptor) override;

 private:
  std::shared_ptr<VecWork> work_of(const hal::Descriptor& descriptor);
  void store(const hal::Descriptor& descriptor, const VecWork& work);

  RtlVecUnit unit_;
  std::deque<std::shared_ptr<VecWork>> begun_;    // fetched, the first one is executing
  std::deque<std::shared_ptr<VecWork>> leaving_;  // executed, not yet drained
  bool again_ = false;
  sc_core::sc_event stored_;
};

}  // namespace attnvp::rtl
