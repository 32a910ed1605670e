// Matrix engine: C = A.B or A.B^T on an output-stationary array of rows x columns processing elements.
//
// Work is divided into L0 sub-tiles m0 x n0 x k0, with k innermost. Every sub-tile loads its parts of A and B from L1.
// In a sub-tile the array computes rows x columns outputs at a time, one step of k per cycle. A ragged edge takes as
// long as a full array. Partial sums stay in L0 during k.
//
// Operands are FP16, BF16, FP8 or INT8. Sums are FP32 in the order of k (INT32 for INT8). Results are FP16 or BF16, or
// partial sums that continue in another descriptor (models/arith/matmul.h). Short types may take several steps of k per
// cycle (mac_rate). mac_plan.h describes row operations on tiles that stay in the array.
#pragma once

#include <vector>

#include "models/arith/matmul.h"
#include "models/engine/mac_engine/mac_plan.h"
#include "models/engine/pipelined_engine.h"

namespace attnvp {

class MacEngine : public PipelinedEngine {
 public:
  MacEngine(sc_core::sc_module_name name, const ModuleContext& module_context);

  bool visit_state(sim::StateVisitor& visitor) override;

  Counter compute{*this, "macs", "multiply-accumulates", "useful multiply-accumulates", {"attnvp.mac", "compute"}};
  Counter slots{*this, "slots", "PE cycles", "cycles times processing elements while computing, idle ones included"};
  Counter max_ops{*this, "max_ops", "operations", "maxima on PEs", {"attnvp.mac", "max"}};
  Counter add_ops{*this, "add_ops", "operations", "sums and differences on PEs", {"attnvp.mac", "add"}};
  Counter accumulations{
      *this, "accumulations", "updates", "sums in PEs read and written", {"attnvp.mac", "accumulate", true}};
  Counter exp_ops{*this, "exp_ops", "operations", "exponentials on PEs", {"attnvp.mac", "exp"}};

 protected:
  Refusal plan(const hal::Descriptor& descriptor, Plan& plan) override;
  void compute_values(const hal::Descriptor& descriptor) override;
  void count(const hal::Descriptor& descriptor) override;
  std::uint64_t ragged_cycles() const override;

 private:
  void compute_tile(const hal::Descriptor& descriptor);
  // Computes the product of `a` and operand 1 with operands other than FP16, or through the edge. `exact`: INT32 sums.
  void compute_typed(const hal::Descriptor& descriptor, const arith::ElementMatrix& a, bool exact,
                     hal::ElementType type, unsigned char* out, std::size_t stride);
  arith::MatrixView<const arith::Half> halves(const hal::Descriptor& descriptor, int operand);
  unsigned char* factor(const hal::Descriptor& descriptor, int operand);  // A or B, with zeros for absent rows

  MacPlanner planner_;
  std::uint64_t rate_ = 1;  // of the operands' type; a job has one type
  std::uint64_t kept_ = 0;  // address in L1 of the partials that are kept in L0; 0: none
  arith::Workspace workspace_;
  std::vector<unsigned char> completed_;  // copy of B with absent rows filled
};

}  // namespace attnvp
