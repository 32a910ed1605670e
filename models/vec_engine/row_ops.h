// The VEC engine's primitive row operations: the steps of a one-pass softmax (models/arith/online.h), and what a layer
// does between its products (models/arith/layer.h). What each one needs of the lanes, of L1 and of L0, and its values.
//
// Elementwise operations are packed over the lanes whatever the rows' length: rows x elements x cost / lanes cycles.
// kOnlineSoftmax and kNorm reduce rows, so that a row starts on the first lane; their few operations per row (maximum
// with the running one, scale; mean, root) are packed over the rows. What a mask hides from a row costs it no lanes,
// only the zeros of P.
#pragma once

#include <array>
#include <cstdint>

#include "firmware/hal/descriptor.h"
#include "models/arith/half.h"
#include "models/bus/stream.h"
#include "models/engine/descriptor_check.h"
#include "models/engine/row_mask.h"
#include "models/machine.h"

namespace attnvp {

// How often each lane operation is done.
struct LaneOperations {
  std::uint64_t max = 0, add = 0, mul = 0, exp = 0, div = 0;
  std::uint64_t lane_cycles(const VecConfig& config) const {
    return max * config.max_lane_cycles + add * config.add_lane_cycles + mul * config.mul_lane_cycles +
           exp * config.exp_lane_cycles + div * config.div_lane_cycles;
  }
};

// Of each score in a one-pass softmax: maximum, difference, exponential, sum.
constexpr LaneOperations kOnlineSoftmaxOfAScore{1, 2, 0, 1, 0};

inline LaneOperations& operator+=(LaneOperations& a, const LaneOperations& b) {
  a.max += b.max;
  a.add += b.add;
  a.mul += b.mul;
  a.exp += b.exp;
  a.div += b.div;
  return a;
}

struct RowOp {
  // Operands in L1 as the descriptor names them, in order; bytes per row.
  struct Part {
    Region region;
    bool in = false, out = false;
    std::uint64_t element_bytes = 0;
    bool from_registers = false, to_registers = false;  // the lanes', not L1
    bool in_place = false;                              // takes the place of operand 0, in L0 too
    bool kept = false;                                  // one row for all: stays in L0 where there is room
    bool apart = false;                                 // no result may take its place
  };
  std::array<Part, 4> parts{};
  int count = 0;
  std::uint64_t rows = 0;
  std::uint64_t elements = 0;  // of a row
  std::uint64_t visible = 0;   // of all rows, without what a mask hides
  LaneOperations per_element, per_row;
  bool reduces = false;  // rows start on the first lane
  Refusal refusal;

  LaneOperations all() const;
  void refuse(Refusal other);  // the first one stays
};

constexpr bool is_row_op(hal::Opcode opcode) {
  const hal::Family family = hal::family_of(opcode);
  return family == hal::Family::kOnePass || family == hal::Family::kLayer;
}
// Checked but for what L1 itself checks.
RowOp row_op_of(const hal::Descriptor& descriptor);

// The visible columns' P, FP16 numbers that narrow_row takes, into a row of another type; zeros elsewhere.
void put_probabilities(hal::ElementType type, const RowMask& mask, const RowMask::Columns& columns,
                       const arith::Half* p, unsigned char* row);

// `operand`: where the host keeps the descriptor's operands.
void compute_row_op(const hal::Descriptor& descriptor, const std::array<unsigned char*, 4>& operand);

}  // namespace attnvp
