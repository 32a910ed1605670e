// The vector engine: row operations on FP16 matrices in L1, today the row softmax. Rows are the sub-tiles: one row
// at a time is loaded into L0 while the one before is computed. A row that does not fit into the engine's half of L0
// (double-buffered) is read from L1 once per pass instead: maximum, exponential and sum, normalise. Values are those
// of models/arith/softmax.h, which an RTL twin can match bit for bit.
#pragma once

#include "models/arith/workspace.h"
#include "models/engine/engine.h"

namespace attnvp {

class VecEngine : public Engine {
 public:
  VecEngine(sc_core::sc_module_name name, Context& context, const VecConfig& config, std::uint64_t l0_share_bytes,
            const Place& place);

  Counter elements{*this, "elements", "elements", "elements put through softmax"};
  Counter lane_ops{*this, "lane_ops", "lane-cycles", "operations on one lane", {"attnvp.vec", "compute"}};

 protected:
  PlanError plan(const hal::Descriptor& descriptor, Plan& plan) override;
  void compute_values(const hal::Descriptor& descriptor) override;
  void count(const hal::Descriptor& descriptor) override;

 private:
  std::uint64_t row_cycles(std::uint64_t columns) const;

  VecConfig config_;
  std::uint64_t l0_share_bytes_;
  arith::Workspace workspace_;
};

}  // namespace attnvp
