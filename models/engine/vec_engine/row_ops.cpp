#include "models/engine/vec_engine/row_ops.h"

#include <fmt/format.h>

#include "models/engine/plan.h"

namespace attnvp {

namespace {

void add_part(RowOp& op, const hal::Descriptor& d, const hal::OperandInfo& o) {
  op.refuse(check_operand(d, o.index));
  RowOp::OperandPart& part = op.parts.at(static_cast<std::size_t>(op.count++));
  const hal::Operand &x = d.operand[0], &here = d.operand[o.index];
  part.out = o.role != hal::OperandRole::kRead;
  // The first descriptor only writes what later ones accumulate.
  part.in =
      o.role == hal::OperandRole::kRead || (o.role == hal::OperandRole::kAccumulated && (d.flags & hal::kFirst) == 0);
  part.region = {here.address, hal::value_of(o.rows, d, o.index), d.row_bytes(o.index), here.row_stride, 0, part.out};
  part.element_bytes = hal::element_bytes(d.type[o.index]);
  part.row_bytes =
      o.rows == hal::OperandExtent::kGroups ? part.region.rows * part.element_bytes : part.region.row_bytes;
  part.kept = o.rows == hal::OperandExtent::kOne;
  part.apart = !o.is_replaceable;
  part.in_place = hal::family_of(d.opcode) == hal::Family::kLayer && o.index > 0 && here.address == x.address &&
                  (d.rows == 1 || here.row_stride == x.row_stride);
}

// FP32 rows must be 4-byte aligned. No result may overlap another operand, except an operand given twice. P may be
// shorter than the S that it replaces.
void check(RowOp& op, const char* name) {
  for (int i = 0; i < op.count; ++i) {
    const RowOp::OperandPart& a = op.parts[static_cast<std::size_t>(i)];
    const Region& r = a.region;
    if (a.element_bytes == 4 && !is_in_words(r)) {
      op.refuse({FaultCode::kMisaligned, r.address, "FP32 rows need addresses and strides of whole 4-byte words"});
    }
    for (int j = i + 1; j < op.count; ++j) {
      const RowOp::OperandPart& b = op.parts[static_cast<std::size_t>(j)];
      if ((!a.out && !b.out) || !overlap(r, b.region)) continue;
      const bool same = r.address == b.region.address && r.row_bytes >= b.region.row_bytes &&
                        (r.rows == 1 || r.row_stride == b.region.row_stride);
      if (same && !a.apart && !b.apart) continue;
      op.refuse({FaultCode::kOverlap, b.region.address,
                 fmt::format("{} of {} rows: operands {} and {} overlap", name, op.rows, i, j)});
    }
  }
}

LaneOperations times(const LaneOperations& o, std::uint64_t n) {
  return {o.max * n, o.add * n, o.mul * n, o.exp * n, o.div * n};
}

}  // namespace

void RowOp::refuse(Refusal other) {
  if (!refusal.any()) refusal = std::move(other);
}

LaneOperations RowOp::all() const {
  const LaneOperations a = times(per_element, visible), b = times(per_row, rows);
  return {a.max + b.max, a.add + b.add, a.mul + b.mul, a.exp + b.exp, a.div + b.div};
}

RowOp row_op_of(const hal::Descriptor& d) {
  const hal::OperationInfo& info = *hal::find(d.opcode);
  RowOp op;
  op.rows = d.rows;
  op.elements = hal::value_of(info.operands[0].columns, d, 0);
  if (op.rows == 0 || op.elements == 0) {
    op.refuse(
        {FaultCode::kZeroSize, d.operand[0].address, fmt::format("row operation on {} x {}", op.rows, op.elements)});
    return op;
  }
  op.visible = op.rows * op.elements;
  if ((d.flags & info.flags & hal::kMasked) != 0) {
    const RowMask mask(d, op.elements);
    op.visible = 0;
    for (std::uint64_t row = 0; row < op.rows; ++row) op.visible += mask.of(row).count();
  }
  if ((info.flags & (hal::kMasked | hal::kSink)) != 0) op.refuse(check_rules(d));
  for (const hal::OperandInfo& o : info.operands) {
    if (o.name != nullptr && hal::has(d, o)) add_part(op, d, o);
  }
  row_kernel(d.opcode).plan(op, d);
  check(op, d.opcode == hal::Opcode::kOnlineSoftmax ? "one-pass softmax" : "row operation");
  return op;
}

void compute_rows(const hal::Descriptor& d, const std::array<unsigned char*, 4>& operand, arith::Workspace& workspace) {
  RowData data(d, operand, workspace);
  const RowKernel& kernel = row_kernel(d.opcode);
  for (std::uint64_t row = 0; row < d.rows; ++row) {
    data.begin(row);
    kernel.row(data);
  }
}

}  // namespace attnvp
