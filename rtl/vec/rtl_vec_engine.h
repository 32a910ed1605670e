// VEC engine with an RTL datapath. Queue, events, L1 and L0 traffic are those of the model. Rows pass clocked blocks: a
// vec_unit for softmax and its online form, a vec_linear for FP32 row operations. A row is fed while it is loaded from
// L1. The execute stage continues with the next row when the traffic has ended and the block has read the row. The last
// stage waits for the block's last result and for vec.pipeline_cycles.
//
// Rows are forwarded between descriptors: a row is fed once the rows that it needs of earlier descriptors have left
// their block. Those descriptors have then left the execute stage, so that none is restarted.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "models/engine/vec_engine/vec_engine.h"
#include "rtl/vec/rtl_units.h"

namespace attnvp::rtl {

class RtlVecEngine : public VecEngine {
 public:
  RtlVecEngine(sc_core::sc_module_name name, const ModuleContext& module_context);
  void reset() override;

 protected:
  Refusal plan(const hal::Descriptor& descriptor, Plan& plan) override;
  void begin(PipelinePhase phase, const hal::Descriptor& descriptor, const Plan& plan) override;
  void crossed(PipelinePhase phase) override;
  void abandon() override;
  void compute_values(const hal::Descriptor& /*descriptor*/) override {}

 private:
  // Descriptor in progress: the vec_unit's part, the vec_linear's part, or both.
  struct DescriptorWork {
    std::shared_ptr<VecRowWork> vec;
    std::shared_ptr<LinearWork> linear;
    hal::Descriptor descriptor;
    std::vector<Region> regions;   // of its operands
    std::uint64_t stored = 0;      // rows of results in L1
    std::uint64_t first_rows = 0;  // rows of the first sub-tile
    bool vec_is_fed = false, linear_is_fed = false;
    std::shared_ptr<RowWork> rows() const { return linear ? std::static_pointer_cast<RowWork>(linear) : vec; }
  };

  std::shared_ptr<DescriptorWork> work_of(const hal::Descriptor& descriptor);
  std::shared_ptr<VecRowWork> softmax_of(const hal::Descriptor& descriptor);
  std::shared_ptr<VecRowWork> scales_of(const hal::Descriptor& descriptor);
  std::shared_ptr<LinearWork> linear_of(const hal::Descriptor& descriptor);
  StridedRows rows_of(const hal::Operand& operand, std::uint64_t offset_bytes = 0);
  void link(DescriptorWork& work) const;
  void begin_feeding(DescriptorWork& work);
  void fill(PipelinePhase phase);
  void next_row();
  // Condition on a block that a stage waits for.
  struct Await {
    std::function<bool()> there;
    std::function<void()> then;
  };
  Await& await_of(PipelinePhase phase) { return awaits_[phase == kFill ? 0 : phase == kDrain ? 2 : 1]; }
  void await(PipelinePhase phase, std::function<bool()> there, std::function<void()> then);
  sim::Process check_conditions();
  void store(DescriptorWork& work);
  void store_linear(const DescriptorWork& work, std::uint64_t row);
  void store_softmax(const DescriptorWork& work, std::uint64_t row);

  sim::Event progress_;  // of any work: conditions may hold now
  RtlVecUnit unit_;
  RtlLinearUnit linear_;
  std::deque<std::shared_ptr<DescriptorWork>> begun_;    // fetched; the first one is executing
  std::deque<std::shared_ptr<DescriptorWork>> leaving_;  // executed, not yet drained
  std::uint64_t row_ = 0;                                // row of a softmax whose traffic is in progress
  Stream row_stream_;
  std::array<Await, 3> awaits_;  // of fetch, execute, drain
  sim::Process checks_conditions_;
};

}  // namespace attnvp::rtl
