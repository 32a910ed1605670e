// Vector engine: row softmax and the steps of a one-pass softmax (row_ops.h) on matrices in L1. Sub-tiles are rows: one
// row is loaded into L0 while the previous one is computed. A row that exceeds the engine's half of L0
// (double-buffered) is read from L1 in each pass: maximum, exponential and sum, normalise. Values are those of
// models/arith/softmax.h, which an RTL twin can match bit for bit.
#pragma once

#include "models/arith/matmul.h"
#include "models/engine/pipelined_engine.h"
#include "models/engine/vec_engine/vec_plan.h"

namespace attnvp {

class VecEngine : public PipelinedEngine {
 public:
  VecEngine(sc_core::sc_module_name name, const ModuleContext& module_context);

  Counter elements{*this, "elements", "elements", "elements put through softmax"};
  Counter lane_ops{*this, "lane_ops", "lane-cycles", "of softmax, on one lane", {"attnvp.vec", "compute"}};
  Counter slots{*this, "slots", "lane-cycles", "cycles of softmax times lanes, idle ones included"};
  Counter max_ops{*this, "max_ops", "operations", "maxima of row operations", {"attnvp.vec", "max"}};
  Counter add_ops{*this, "add_ops", "operations", "sums and differences of row operations", {"attnvp.vec", "add"}};
  Counter mul_ops{*this, "mul_ops", "operations", "products of row operations", {"attnvp.vec", "multiply"}};
  Counter exp_ops{*this, "exp_ops", "operations", "exponentials of row operations", {"attnvp.vec", "exp"}};
  Counter div_ops{*this, "div_ops", "operations", "quotients of row operations", {"attnvp.vec", "divide"}};

 protected:
  Refusal plan(const hal::Descriptor& descriptor, Plan& plan) override;
  void compute_values(const hal::Descriptor& descriptor) override;
  void count(const hal::Descriptor& descriptor) override;
  std::uint64_t ragged_cycles() const override;

 private:
  std::uint32_t lanes_;
  VecPlanner planner_;
  arith::Workspace workspace_;
};

}  // namespace attnvp
