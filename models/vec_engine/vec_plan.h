// What a descriptor needs of the vector engine (vec_engine.h), and how much work is in it. No simulation: the engine
// runs by it, readers of the command stream count by it.
#pragma once

#include <cstdint>

#include "models/engine/plan.h"
#include "models/machine.h"
#include "models/vec_engine/row_ops.h"

namespace attnvp {

struct VecWork {
  std::uint64_t elements = 0;  // put through softmax
  std::uint64_t lane_ops = 0;  // lane-cycles of softmax
  std::uint64_t slots = 0;     // those of all lanes meanwhile
  LaneOperations rows;         // of row operations
  VecWork& operator+=(const VecWork& o);
};

class VecPlanner {
 public:
  // The engine's share of its core's L0, in bytes.
  VecPlanner(const VecConfig& config, std::uint64_t l0_share_bytes)
      : config_(config), l0_share_bytes_(l0_share_bytes) {}

  // Fills the plan, or says what is wrong with the descriptor.
  Refusal plan(const hal::Descriptor& descriptor, Plan& plan) const;
  VecWork work(const hal::Descriptor& descriptor) const;

 private:
  static std::uint64_t visible(const hal::Descriptor& descriptor);  // elements of softmax
  std::uint64_t row_cycles(std::uint64_t columns) const;
  Refusal plan_softmax(const hal::Descriptor& descriptor, Plan& plan) const;
  Refusal plan_row_op(const hal::Descriptor& descriptor, Plan& plan) const;

  VecConfig config_;
  std::uint64_t l0_share_bytes_;
};

}  // namespace attnvp
