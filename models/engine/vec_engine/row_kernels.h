// Row operations of the VEC engine: lane operations for the plan, and values of a row; one table entry per opcode.
// Operands, types and lengths are defined in firmware/hal/operations.h.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "firmware/hal/descriptor.h"
#include "models/engine/row_mask.h"
#include "models/engine/vec_engine/row_ops.h"

namespace attnvp {

// Operands of a command in host memory, at one of its rows.
class RowData {
 public:
  RowData(const hal::Descriptor& d, const std::array<unsigned char*, 4>& operand);

  void begin(std::uint64_t row) { row_ = row; }
  bool has(int flag) const { return (d.flags & flag) != 0; }
  std::size_t size() const { return d.operand[0].columns; }  // elements of the row
  unsigned char* at(std::size_t i) const { return operand_[i] + row_ * d.operand[i].row_stride; }
  arith::Half* half(std::size_t i) const { return reinterpret_cast<arith::Half*>(at(i)); }
  float* fp32(std::size_t i) const { return reinterpret_cast<float*>(at(i)); }
  // Operand i with a single row, in FP32; nullptr: none.
  const float* vector(std::size_t i) const { return vector_[i].empty() ? nullptr : vector_[i].data(); }
  RowMask::Columns visible() const { return mask.of(row_); }

  const hal::Descriptor& d;
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
  // Sets the lane operations and other parts of the plan; refuses what the table of operations cannot express.
  void (*plan)(RowOp& op, const hal::Descriptor& d);
  void (*row)(RowData& data);
};
const RowKernel& row_kernel(hal::Opcode opcode);

}  // namespace attnvp
