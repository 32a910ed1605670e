// Plan of a descriptor on the vector engine (vec_engine.h), and its amount of work. Engines execute it; readers of a
// schedule count with it, without simulation.
#pragma once

#include <cstdint>

#include "models/engine/plan.h"
#include "models/engine/vec_engine/row_ops.h"
#include "models/machine.h"

namespace attnvp {

struct VecWork {
  std::uint64_t elements = 0;  // processed by softmax
  std::uint64_t lane_ops = 0;  // lane-cycles of softmax
  std::uint64_t slots = 0;     // lane-cycles of all lanes in that time
  LaneOperations rows;         // of row operations
  VecWork& operator+=(const VecWork& o);
};

class VecPlanner {
 public:
  // `l0_share_bytes`: the engine's part of its core's L0.
  VecPlanner(const VecConfig& config, std::uint64_t l0_share_bytes)
      : config_(config), l0_share_bytes_(l0_share_bytes) {}

  Refusal plan(const hal::Descriptor& descriptor, Plan& plan) const;
  VecWork work(const hal::Descriptor& descriptor) const;

 private:
  RowMask mask(const hal::Descriptor& descriptor, std::uint64_t columns) const;  // of the elements that take time
  std::uint64_t visible(const hal::Descriptor& descriptor) const;                // elements of softmax
  RowOp row_op(const hal::Descriptor& descriptor) const;
  std::uint64_t row_cycles(std::uint64_t columns) const;
  Refusal plan_softmax(const hal::Descriptor& descriptor, Plan& plan) const;
  Refusal plan_row_op(const hal::Descriptor& descriptor, Plan& plan) const;

  VecConfig config_;
  std::uint64_t l0_share_bytes_;
};

}  // namespace attnvp
