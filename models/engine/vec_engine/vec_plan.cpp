#include "models/engine/vec_engine/vec_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/arith/number.h"
#include "models/arith/softmax.h"
#include "models/engine/row_mask.h"

namespace attnvp {

namespace {
constexpr std::uint64_t kPasses = 3;  // maximum; exponential and sum; normalise

// A sink takes the lanes as another element does. It comes with the command, not from L1.
std::uint64_t sinks_of_a_row(const hal::Descriptor& d) { return (d.flags & hal::kSink) != 0 ? 1 : 0; }

// Cycles of the rows of a masked operation, by their visible columns.
struct RowCycles {
  std::uint64_t all = 0, last = 0;
  template <typename Cycles>
  RowCycles(const RowMask& mask, std::uint64_t rows, std::uint64_t side_by_side, const Cycles& cycles) {
    for (std::uint64_t row = 0; row < rows; ++row) all += last = cycles(mask.of(row).count());
    all = std::max(ceil_div(all, side_by_side), last);
  }
};
}  // namespace

// A row starts on the first lane of its share; its last beat may leave lanes idle.
std::uint64_t VecPlanner::row_cycles(std::uint64_t columns) const {
  return ceil_div(columns * config_.softmax_lane_cycles, config_.row_lanes());
}

RowMask VecPlanner::mask(const hal::Descriptor& d, std::uint64_t columns) const {
  return {d, columns, !config_.computes_masked};
}

RowOp VecPlanner::row_op(const hal::Descriptor& d) const {
  RowOp op = row_op_of(d);
  if (config_.computes_masked) op.visible = op.rows * op.elements;
  if (config_.reciprocals && d.opcode == hal::Opcode::kDivide) {
    op.per_element = kScaling;
    op.per_row.div += 1;
  }
  return op;
}

std::uint64_t VecPlanner::visible(const hal::Descriptor& d) const {
  const RowMask mask = this->mask(d, d.operand[0].columns);
  if (!mask.masked()) return std::uint64_t{d.rows} * d.operand[0].columns;
  std::uint64_t sum = 0;
  for (std::uint64_t row = 0; row < d.rows; ++row) sum += mask.of(row).count();
  return sum;
}

Refusal VecPlanner::plan(const hal::Descriptor& d, Plan& plan) const {
  if (Refusal refusal = check_opcode(d, hal::Unit::kVec); refusal.any()) return refusal;
  return is_row_op(d.opcode) ? plan_row_op(d, plan) : plan_softmax(d, plan);
}

Refusal VecPlanner::plan_softmax(const hal::Descriptor& d, Plan& plan) const {
  const std::uint64_t rows = d.rows;
  const std::uint64_t columns = d.operand[0].columns, sinks = sinks_of_a_row(d);
  if (rows == 0 || columns == 0) {
    return {FaultCode::kZeroSize, d.operand[0].address, fmt::format("softmax of {} x {}", rows, columns)};
  }
  if (columns + sinks > arith::kSoftmaxMaxLength) {
    return {FaultCode::kBadOperand, d.operand[0].address,
            fmt::format("softmax of rows of {} elements; the sum is wide enough for {}", columns + sinks,
                        arith::kSoftmaxMaxLength)};
  }
  if (sinks > 0 && arith::is_relative(d.type[1])) {
    return {FaultCode::kBadType, d.operand[1].address,
            fmt::format("a softmax with a sink is not made of {}, whose rows are divided by sums of their elements",
                        name_of(d.type[1]))};
  }
  Refusal refusal = check_operands(d, 2);
  if (!refusal.any()) refusal = check_rules(d);
  if (refusal.any()) return refusal;
  const std::uint64_t row_bytes = d.row_bytes(0), out_bytes = d.row_bytes(1);
  const Region in = rows_of(d, 0, rows), out = rows_of(d, 1, rows, true);
  const bool in_place = in.address == out.address && (rows == 1 || in.row_stride == out.row_stride);
  if (!in_place && overlap(in, out)) {
    return {FaultCode::kOverlap, out.address,
            fmt::format("softmax of {} x {}: source and destination must be the same or apart", rows, columns)};
  }

  const bool row_fits = 2 * row_bytes <= l0_share_bytes_;
  const std::uint64_t reads = row_fits ? 1 : kPasses;
  // Masked elements are neither read nor computed, unless config_.computes_masked; their zeros are written.
  const RowMask mask = this->mask(d, columns);
  const RowCycles cycles(mask, mask.masked() ? rows : 0, config_.rows,
                         [&](std::uint64_t n) { return row_cycles(n + sinks); });
  const auto seen_bytes = [&](std::uint64_t row) { return mask.of(row).count() * sizeof(arith::Half); };
  const std::uint64_t seen = visible(d) * sizeof(arith::Half);
  plan.fill.add(part(in, seen_bytes(0)));
  plan.last.pace_cycles = mask.masked() ? cycles.last : row_cycles(columns + sinks);
  plan.body.pace_cycles =
      mask.masked() ? cycles.all - cycles.last : (ceil_div(rows, config_.rows) - 1) * plan.last.pace_cycles;
  const std::uint64_t again = row_fits ? 0 : seen_bytes(rows - 1) * (kPasses - 1);
  plan.body.add(part(in, seen * reads - seen_bytes(0) - again));
  const std::uint64_t leaves = (d.flags & hal::kForwarded) != 0 ? 0 : out_bytes;  // per row
  plan.body.add(part(out, (rows - 1) * leaves));
  if (!row_fits) plan.last.add(part(in, again));
  plan.drain.add(part(out, leaves));

  // L0: each pass reads and writes the row once if the row is held there.
  const std::uint64_t working_set = row_fits ? 2 * row_bytes : l0_share_bytes_;
  const std::uint64_t accesses = row_fits ? seen * kPasses : seen;
  plan.use_l0(working_set, accesses, accesses);
  return {};
}

// Sub-tiles: as many whole rows as the lanes take at once, at least one.
Refusal VecPlanner::plan_row_op(const hal::Descriptor& d, Plan& plan) const {
  const RowOp op = row_op(d);
  if (op.refusal.any()) return op.refusal;
  const auto over_lanes = [&](std::uint64_t lane_cycles) { return ceil_div(lane_cycles, config_.lanes); };
  const auto over_row_lanes = [&](std::uint64_t lane_cycles) { return ceil_div(lane_cycles, config_.row_lanes()); };
  // A tile's sums are added to running sums by kScaleAdd; kDivide follows the last one.
  const bool updates = d.opcode == hal::Opcode::kScaleAdd || d.opcode == hal::Opcode::kDivide;
  const std::uint64_t element_cycles = op.per_element.lane_cycles(config_) + (updates ? config_.update_lane_cycles : 0),
                      row_cycles = op.per_row.lane_cycles(config_);
  const std::uint64_t sub_tile = std::min(
      op.rows, op.reduces ? std::uint64_t{config_.rows} : std::max<std::uint64_t>(config_.lanes / op.elements, 1));
  const std::uint64_t last_rows = op.rows - (op.rows - 1) / sub_tile * sub_tile;
  const auto cycles = [&](std::uint64_t rows) {
    return op.reduces ? ceil_div(rows, config_.rows) * over_row_lanes(op.elements * element_cycles) +
                            over_lanes(rows * row_cycles)
                      : over_lanes(rows * (op.elements * element_cycles + row_cycles));
  };
  plan.last.pace_cycles = cycles(last_rows);
  plan.body.pace_cycles = cycles(op.rows) - std::min(cycles(op.rows), plan.last.pace_cycles);
  const RowMask mask = this->mask(d, op.elements);
  const bool masked = op.reduces && mask.masked();
  if (masked) {
    const RowCycles of_rows(mask, op.rows, config_.rows,
                            [&](std::uint64_t n) { return over_row_lanes(n * element_cycles); });
    plan.last.pace_cycles = of_rows.last + over_lanes(row_cycles);
    const std::uint64_t all = of_rows.all + over_lanes(op.rows * row_cycles);
    plan.body.pace_cycles = all - std::min(all, plan.last.pace_cycles);
  }
  plan.after_previous = (d.flags & hal::kInOrder) != 0;

  // A row that reduces is needed twice: in L0, or from L1 again.
  std::uint64_t row_bytes = 0, kept_bytes = 0, in_bytes = 0, out_bytes = 0;
  for (int i = 0; i < op.count; ++i) {
    const RowOp::OperandPart& p = op.parts[static_cast<std::size_t>(i)];
    if (!p.in_place) (p.kept ? kept_bytes : row_bytes) += p.row_bytes;
  }
  const bool fits = 2 * row_bytes + kept_bytes <= l0_share_bytes_;
  for (int i = 0; i < op.count; ++i) {
    const RowOp::OperandPart& p = op.parts[static_cast<std::size_t>(i)];
    Region in = p.region, out = p.region;
    in.write = false;
    out.write = true;
    const std::uint64_t all = op.rows * p.row_bytes;
    const bool whole = op.reduces && p.in && p.out;  // running maxima: one word per row, all at once
    if (masked && i == 0) {                          // visible elements of S
      const auto bytes = [&](std::uint64_t row) { return mask.of(row).count() * p.element_bytes; };
      const std::uint64_t times = fits ? 1 : 2, again = fits ? 0 : bytes(op.rows - 1);
      plan.fill.add(part(in, bytes(0)));
      plan.body.add(part(in, op.visible * p.element_bytes * times - bytes(0) - again));
      if (again > 0) plan.last.add(part(in, again));
      in_bytes += op.visible * p.element_bytes * times;
    } else if (p.in && p.from_registers) {
      in_bytes += all;
    } else if (p.kept) {  // once, or for every row if it does not fit
      if (fits) plan.fill.add(part(in, p.row_bytes));
      if (!fits) plan.body.add(part(in, all - p.row_bytes));
      if (!fits) plan.last.add(part(in, p.row_bytes));
      in_bytes += all;
    } else if (p.in) {
      const std::uint64_t first = sub_tile * p.row_bytes, times = op.reduces && !fits && i == 0 ? 2 : 1;
      plan.fill.add(part(in, whole ? all : first));
      if (!whole) plan.body.add(part(in, (all - first) * times));
      if (times > 1) plan.last.add(part(in, first));
      in_bytes += all * times;
    }
    if (p.out && !p.to_registers) {
      const std::uint64_t last = last_rows * p.row_bytes;
      if (!whole) plan.body.add(part(out, all - last));
      plan.drain.add(part(out, whole ? all : last));
    }
    if (p.out) out_bytes += all;
  }
  const std::uint64_t working_set = fits ? 2 * row_bytes + kept_bytes : l0_share_bytes_;
  plan.use_l0(working_set, in_bytes + out_bytes, in_bytes + out_bytes);
  return {};
}

VecWork& VecWork::operator+=(const VecWork& o) {
  elements += o.elements;
  lane_ops += o.lane_ops;
  slots += o.slots;
  rows += o.rows;
  return *this;
}

VecWork VecPlanner::work(const hal::Descriptor& d) const {
  VecWork work;
  if (is_row_op(d.opcode)) {
    work.rows = row_op(d).all();
  } else {
    const std::uint64_t sinks = sinks_of_a_row(d);
    work.elements = visible(d) + d.rows * sinks;
    work.lane_ops = work.elements * config_.softmax_lane_cycles;
    work.slots = ceil_div(d.rows, config_.rows) * row_cycles(d.operand[0].columns + sinks) * config_.lanes;
  }
  return work;
}

}  // namespace attnvp
