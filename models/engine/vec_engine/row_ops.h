// Primitive row operations of the VEC engine: the steps of a one-pass softmax (models/arith/online.h) and layer
// operations (models/arith/layer.h). Their needs of lanes, L1 and L0, and their values.
//
// Elementwise operations are packed over the lanes regardless of row length: rows x elements x cost / lanes cycles. The
// operations kOnlineSoftmax and kNorm reduce rows, so that a row starts on the first lane. Their few operations per row
// (maximum with the running one, scale; mean, root) are packed over the rows. Masked elements of a row take no lanes,
// only zeros of P.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "firmware/hal/descriptor.h"
#include "models/arith/half.h"
#include "models/arith/matmul.h"
#include "models/engine/descriptor_check.h"
#include "models/engine/row_mask.h"
#include "models/interconnect/bus/stream.h"
#include "models/machine.h"

namespace attnvp {

// Number of each lane operation.
struct LaneOperations {
  std::uint64_t max = 0, add = 0, mul = 0, exp = 0, div = 0;
  std::uint64_t lane_cycles(const VecConfig& config) const {
    const std::uint64_t exps = exp * config.exp_lane_cycles;
    const std::uint64_t others = max * config.max_lane_cycles + add * config.add_lane_cycles +
                                 mul * config.mul_lane_cycles + div * config.div_lane_cycles;
    return config.exp_unit ? std::max(exps, others) : exps + others;
  }
};

// Per score of a one-pass softmax: maximum, difference, exponential, sum.
constexpr LaneOperations kOnlineSoftmaxOfAScore{1, 2, 0, 1, 0};

// Per element of layer operations.
constexpr LaneOperations kAddition{0, 1, 0, 0, 0}, kRotation{0, 1, 2, 0, 0}, kScaling{0, 0, 1, 0, 0};
constexpr LaneOperations operations_of_norm(bool is_centred) {
  return is_centred ? LaneOperations{0, 4, 3, 0, 0} : LaneOperations{0, 1, 3, 0, 0};
}
// Exponentials are those of softmax. GELU's erf follows Abramowitz and Stegun, 7.1.26: a quotient, a polynomial of five
// terms and an exponential. The form with tanh is a sigmoid of x + 0.044715 x^3.
constexpr LaneOperations kActivations[] = {{1, 0, 0, 0, 0}, {0, 1, 0, 1, 1}, {0, 6, 10, 1, 1}, {0, 2, 4, 1, 1}};
constexpr LaneOperations operations_of_activation(hal::Activation function, bool is_gated) {
  LaneOperations of_element = kActivations[static_cast<std::size_t>(function)];
  of_element.mul += is_gated ? 1 : 0;
  return of_element;
}

inline LaneOperations& operator+=(LaneOperations& a, const LaneOperations& b) {
  a.max += b.max;
  a.add += b.add;
  a.mul += b.mul;
  a.exp += b.exp;
  a.div += b.div;
  return a;
}

struct RowOp {
  // Operands in L1 in the order of the descriptor; bytes per row.
  struct OperandPart {
    Region region;
    bool in = false, out = false;
    std::uint64_t element_bytes = 0;
    std::uint64_t row_bytes = 0;                        // that a row of the operation needs
    bool from_registers = false, to_registers = false;  // registers of the lanes instead of L1
    bool in_place = false;                              // replaces operand 0, also in L0
    bool kept = false;                                  // one row for all rows; stays in L0 if it fits
    bool apart = false;                                 // must not be overwritten by a result
  };
  std::array<OperandPart, 4> parts{};
  int count = 0;
  std::uint64_t rows = 0;
  std::uint64_t elements = 0;  // per row
  std::uint64_t visible = 0;   // of all rows, without masked elements
  LaneOperations per_element, per_row;
  bool reduces = false;  // rows start on the first lane
  Refusal refusal;

  LaneOperations all() const;
  void refuse(Refusal other);  // keeps the first refusal
};

constexpr bool is_row_op(hal::Opcode opcode) {
  const hal::Family family = hal::family_of(opcode);
  return family == hal::Family::kOnePass || family == hal::Family::kLayer;
}
// Checked, except for the checks of L1 itself.
RowOp row_op_of(const hal::Descriptor& descriptor);

// Computes the values of softmax or a row operation. `operand`: host pointers of the descriptor's operands.
void compute_rows(const hal::Descriptor& descriptor, const std::array<unsigned char*, 4>& operand,
                  arith::Workspace& workspace);

// Row operations of the VEC engine: lane operations for the plan, and values of a row; one table entry per opcode.
// Operands, types and lengths are defined in firmware/hal/operations.h.

// Operands of a command in host memory, at one of its rows.
class RowData {
 public:
  RowData(const hal::Descriptor& d, const std::array<unsigned char*, 4>& operand, arith::Workspace& workspace);

  void begin(std::uint64_t row) { row_ = row; }
  std::uint64_t row() const { return row_; }
  bool has(int flag) const { return (d.flags & flag) != 0; }
  std::size_t size() const { return d.operand[0].columns; }  // elements of the row
  unsigned char* at(std::size_t i) const { return operand_[i] + row_ * d.operand[i].row_stride; }
  arith::Half* half(std::size_t i) const { return reinterpret_cast<arith::Half*>(at(i)); }
  const arith::Half* only_row(std::size_t i) const { return reinterpret_cast<const arith::Half*>(operand_[i]); }
  const unsigned char* whole(std::size_t i) const { return operand_[i]; }
  float* fp32(std::size_t i) const { return reinterpret_cast<float*>(at(i)); }
  // Operand i with a single row, in FP32; nullptr: none.
  const float* vector(std::size_t i) const { return vector_[i].empty() ? nullptr : vector_[i].data(); }
  RowMask::VisibleColumns visible() const { return mask.of(row_); }

  const hal::Descriptor& d;
  arith::Workspace& workspace;
  const RowMask mask;
  const bool is_typed;            // operand 1 is not FP16
  std::vector<arith::Half> seen;  // visible elements of the row, if masked or typed

 private:
  std::array<unsigned char*, 4> operand_;
  std::array<std::vector<float>, 4> vector_;
  std::uint64_t row_ = 0;
};

struct RowKernel {
  hal::Opcode opcode;
  // Sets the lane operations and other parts of the plan; refuses what the table of operations cannot express. nullptr:
  // softmax, which VecPlanner plans.
  void (*plan)(RowOp& op, const hal::Descriptor& d);
  void (*row)(RowData& data);
};
const RowKernel& row_kernel(hal::Opcode opcode);

}  // namespace attnvp
