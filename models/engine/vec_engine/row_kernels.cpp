#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "models/arith/layer.h"
#include "models/arith/number.h"
#include "models/arith/online.h"
#include "models/arith/softmax.h"
#include "models/engine/vec_engine/row_ops.h"

namespace attnvp {

namespace {

using hal::Descriptor;

bool has(const Descriptor& d, int flag) { return (d.flags & flag) != 0; }

// Checks that a row is within the width of its sum.
void check_length(RowOp& op, const Descriptor& d, const char* of) {
  if (op.elements <= arith::kSoftmaxMaxLength) return;
  op.refuse(
      {FaultCode::kBadOperand, d.operand[0].address,
       fmt::format("{}rows of {} elements; the sum is wide enough for {}", of, op.elements, arith::kSoftmaxMaxLength)});
}

// Sink of a row's query head (hal::kSink).
arith::Half sink_of(const Descriptor& d, std::uint64_t row) {
  const hal::RuleTail& rule = d.tail.rule;
  const std::uint64_t queries = rule.mask.queries, head = (rule.row + row) / queries - rule.row / queries;
  float sink = 0;
  std::memcpy(&sink, &rule.more.sink[std::min<std::uint64_t>(head, hal::kMostSlopes - 1)], sizeof sink);
  return arith::half_from_float(sink);
}

// Stores P of the visible columns, FP16 in `seen`, in the type of operand 1 (narrow_row); zeros elsewhere.
void store_seen(RowData& r, const RowMask::VisibleColumns& columns) {
  if (!r.is_typed) return r.mask.scatter(r.seen.data(), columns, r.half(1), arith::Half{0});
  const std::size_t bytes = hal::element_bytes(r.d.type[1]), count = columns.count();
  std::vector<unsigned char> kept(count * bytes);
  arith::narrow_row(r.seen.data(), r.d.type[1], kept.data(), count);
  if (bytes == 1) {
    r.mask.scatter(kept.data(), columns, r.at(1), static_cast<unsigned char>(0));
  } else {
    r.mask.scatter(reinterpret_cast<const std::uint16_t*>(kept.data()), columns,
                   reinterpret_cast<std::uint16_t*>(r.at(1)), std::uint16_t{0});
  }
}

void softmax(RowData& r) {
  const arith::Half sink = r.has(hal::kSink) ? sink_of(r.d, r.row()) : arith::Half{0};
  const arith::Half* const with = r.has(hal::kSink) ? &sink : nullptr;
  if (r.seen.empty()) return arith::softmax_row(r.half(0), r.half(1), r.size(), r.workspace, with);
  const RowMask::VisibleColumns columns = r.visible();
  arith::Half* const seen = r.seen.data();
  RowMask::gather(r.half(0), columns, seen);
  if (r.is_typed && arith::is_relative(r.d.type[1]) && columns.count() > 0) {
    arith::exp_row(seen, seen, columns.count(), arith::row_max(seen, columns.count()));
  } else {
    arith::softmax_row(seen, seen, columns.count(), r.workspace, with);
  }
  store_seen(r, columns);
}

void plan_online_max(RowOp& op, const Descriptor& d) {
  op.per_element.max = 1;
  if (!has(d, hal::kUnscaled)) op.per_element.add = op.per_element.exp = has(d, hal::kTwoScales) ? 2 : 1;
}

void online_max(RowData& r) {
  const bool first = r.has(hal::kFirst);
  const arith::Half m = *r.half(0), before = first ? m : *r.half(1);
  const arith::Half now = arith::running_max(before, m);
  *r.half(3) = now;
  if (r.has(hal::kUnscaled)) return;
  r.fp32(2)[0] = first ? 0 : arith::exp_scale(before, now);
  if (r.has(hal::kTwoScales)) r.fp32(2)[1] = arith::exp_scale(m, now);
}

void plan_online_softmax(RowOp& op, const Descriptor& d) {
  op.reduces = true;
  op.per_element = kOnlineSoftmaxOfAScore;
  op.per_row = {1, 1, 0, 1, 0};  // running maximum and scale
  check_length(op, d, "");
}

void online_softmax(RowData& r) {
  const RowMask::VisibleColumns columns = r.visible();
  const arith::Half* in = r.half(0);
  if (r.mask.masked()) {
    RowMask::gather(in, columns, r.seen.data());
    in = r.seen.data();
  }
  const bool first = r.has(hal::kFirst);
  arith::Half* const out = r.seen.empty() ? r.half(1) : r.seen.data();
  const arith::Half nothing = arith::kHalfInfinity | arith::kHalfSign;
  const arith::Half m = columns.count() > 0 ? arith::row_max(in, columns.count()) : nothing, before = *r.half(2);
  const arith::Half now = first ? m : arith::running_max(before, m);
  *r.half(2) = now;
  r.fp32(3)[0] = arith::exp_row(in, out, columns.count(), now);
  r.fp32(3)[1] = first ? 0 : arith::exp_scale(before, now);
  if (!r.seen.empty()) store_seen(r, columns);
}

void plan_scale_add(RowOp& op, const Descriptor& d) {
  // The first tile is added to zeros and takes as long as any other.
  const bool unscaled = has(d, hal::kUnscaled), forwarded = has(d, hal::kForwarded);
  op.per_element.add = 1;
  op.per_element.mul = unscaled ? 0 : has(d, hal::kTwoScales) ? 2 : 1;
  op.parts[1].from_registers = forwarded;
  op.parts[0].from_registers = forwarded && unscaled;  // scaled in registers
}

void scale_add(RowData& r) {
  float* const sums = r.fp32(0);
  const float* const tile = r.fp32(1);
  const bool two = r.has(hal::kTwoScales);
  const std::size_t n = r.size();
  const float scale = r.has(hal::kUnscaled) ? 1 : r.fp32(2)[0];
  if (r.has(hal::kFirst)) {
    std::fill_n(sums, n, 0.0F);
    arith::scale_add_row(sums, 0, tile, two ? r.fp32(2)[1] : 1, n);
  } else if (two) {
    arith::scale_add_row(sums, scale, tile, r.fp32(2)[1], n);
  } else {
    arith::scale_add_row(sums, scale, tile, n);
  }
}

// A sink: comparison with the maximum, difference, exponential, quotient if the sink is above the maximum, sum.
void plan_divide(RowOp& op, const Descriptor& d) {
  op.per_element.div = 1;
  if (has(d, hal::kSink)) op.per_row = {1, 2, 0, 1, 1};
}

void divide(RowData& r) {
  const std::size_t n = r.size();
  float denominator = *r.fp32(2);
  if (r.has(hal::kSink)) denominator = arith::with_sink(denominator, *r.half(3), sink_of(r.d, r.row()));
  if (!r.is_typed) return arith::divide_row(r.fp32(0), denominator, r.half(1), n);
  std::vector<float> quotients(n);
  for (std::size_t j = 0; j < n; ++j) quotients[j] = r.fp32(0)[j] / denominator;
  arith::from_floats(r.d.type[1], quotients.data(), r.at(1), n);
}

void plan_rescale(RowOp& op, const Descriptor& d) {
  op.per_element.mul = 1;
  op.per_row = {0, 1, 0, 1, 0};
  op.parts[0].to_registers = has(d, hal::kForwarded);
}

void rescale(RowData& r) {
  const float scale = arith::exp_scale(*r.half(1), *r.half(2));
  for (std::size_t j = 0; j < r.size(); ++j) r.fp32(0)[j] = arith::scaled(r.fp32(0)[j], scale);
}

// A norm reads a row twice: for sum and sum of squares, then for its elements.
void plan_norm(RowOp& op, const Descriptor& d) {
  const bool centred = d.tail.norm.centred != 0;
  op.reduces = true;
  op.per_element = operations_of_norm(centred);
  op.per_row = centred ? LaneOperations{0, 2, 3, 0, 2} : LaneOperations{0, 1, 1, 0, 2};
  check_length(op, d, "norm of ");
}

void norm(RowData& r) {
  float epsilon = 0;
  std::memcpy(&epsilon, &r.d.tail.norm.epsilon, sizeof epsilon);
  arith::norm_row(r.half(0), r.half(1), r.size(), {r.vector(2), r.vector(3)}, epsilon);
}

void plan_add(RowOp& op, const Descriptor& /*d*/) { op.per_element = kAddition; }
void add(RowData& r) { arith::add_row(r.half(0), r.half(2), r.half(1), r.size()); }

void bias(RowData& r) { arith::add_row(r.half(0), r.only_row(2), r.half(1), r.size()); }

void plan_activate(RowOp& op, const Descriptor& d) {
  const auto f = static_cast<std::size_t>(d.tail.activate.function);
  if (f >= std::size(kActivations)) {
    return op.refuse(
        {FaultCode::kBadOperand, d.operand[0].address, fmt::format("activation {}, which there is not", f)});
  }
  op.per_element = operations_of_activation(d.tail.activate.function, d.type[2] != hal::ElementType::kNone);
}

void activate(RowData& r) {
  const bool gated = r.d.type[2] != hal::ElementType::kNone;
  arith::activate_row(r.d.tail.activate.function, r.half(0), gated ? r.half(2) : nullptr, r.half(1), r.size());
}

void plan_rotate(RowOp& op, const Descriptor& d) {
  op.per_element = kRotation;
  const std::uint32_t head = d.operand[2].columns;
  if (head < 2 || head % 2 != 0 || op.elements % head != 0) {
    op.refuse({FaultCode::kBadOperand, d.operand[2].address,
               fmt::format("rows of {} elements turned by {} cosines and sines", op.elements, head)});
  }
}

void plan_dequantise(RowOp& op, const Descriptor& d) {
  op.per_element = kScaling;
  const hal::DequantiseTail& tail = d.tail.dequantise;
  if (tail.first < tail.group || tail.first == 0) return;
  op.refuse({FaultCode::kBadOperand, d.operand[2].address,
             fmt::format("rows that begin with element {} of a group of {}", tail.first, tail.group)});
}

void dequantise(RowData& r) {
  const hal::DequantiseTail& tail = r.d.tail.dequantise;
  const arith::GroupScales scales = {r.whole(2) + r.row() * hal::element_bytes(r.d.type[2]), r.d.operand[2].row_stride,
                                     r.d.type[2], tail.group, tail.first};
  arith::dequantise_row(r.d.type[0], r.at(0), scales, r.d.type[1], r.at(1), r.size());
}

void plan_convert(RowOp& op, const Descriptor& /*d*/) { op.per_element = kScaling; }

void convert(RowData& r) {
  float factor = 0;
  std::memcpy(&factor, &r.d.tail.convert.factor, sizeof factor);
  arith::convert_row(r.half(0), factor, r.d.type[1], r.at(1), r.size());
}

void rotate(RowData& r) { arith::rotate_row(r.half(0), r.half(2), r.half(1), r.size(), r.d.operand[2].columns); }

constexpr RowKernel kKernels[] = {
    {hal::Opcode::kSoftmax, nullptr, softmax},
    {hal::Opcode::kOnlineMax, plan_online_max, online_max},
    {hal::Opcode::kOnlineSoftmax, plan_online_softmax, online_softmax},
    {hal::Opcode::kScaleAdd, plan_scale_add, scale_add},
    {hal::Opcode::kDivide, plan_divide, divide},
    {hal::Opcode::kRescale, plan_rescale, rescale},
    {hal::Opcode::kNorm, plan_norm, norm},
    {hal::Opcode::kAdd, plan_add, add},
    {hal::Opcode::kActivate, plan_activate, activate},
    {hal::Opcode::kRotate, plan_rotate, rotate},
    {hal::Opcode::kBias, plan_add, bias},
    {hal::Opcode::kDequantise, plan_dequantise, dequantise},
    {hal::Opcode::kConvert, plan_convert, convert},
};

constexpr bool has_kernel(hal::Opcode opcode) {
  for (const RowKernel& kernel : kKernels) {
    if (kernel.opcode == opcode) return true;
  }
  return false;
}
constexpr bool all_have_kernels() {
  for (const hal::OperationInfo& o : hal::kOperations) {
    if (is_row_op(o.opcode) && !has_kernel(o.opcode)) return false;
  }
  return true;
}
static_assert(all_have_kernels(), "every row operation has a kernel");

}  // namespace

RowData::RowData(const Descriptor& command, const std::array<unsigned char*, 4>& operand, arith::Workspace& scratch)
    : d(command),
      workspace(scratch),
      mask(command, command.operand[0].columns),
      is_typed(command.type[1] != hal::ElementType::kFp16),
      seen(mask.masked() || is_typed ? command.operand[0].columns : 0),
      operand_(operand) {
  const hal::OperationInfo& info = *hal::find(d.opcode);
  for (const hal::OperandInfo& o : info.operands) {
    if (o.name == nullptr || o.rows != hal::OperandExtent::kOne || !hal::has(d, o)) continue;
    vector_[o.index].resize(size());
    arith::floats_from_halves(reinterpret_cast<const arith::Half*>(operand[o.index]), vector_[o.index].data(), size());
  }
}

const RowKernel& row_kernel(hal::Opcode opcode) {
  return *std::find_if(std::begin(kKernels), std::end(kKernels),
                       [opcode](const RowKernel& kernel) { return kernel.opcode == opcode; });
}

}  // namespace attnvp
