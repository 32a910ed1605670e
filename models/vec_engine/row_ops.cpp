#include "models/vec_engine/row_ops.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>
#include <vector>

#include "models/arith/layer.h"
#include "models/arith/number.h"
#include "models/arith/online.h"
#include "models/engine/row_mask.h"

namespace attnvp {

namespace {

using hal::ElementType;

enum Use : std::uint8_t { kIn = 1, kOut = 2, kInOut = 3 };

void refuse(RowOp& op, Refusal refusal) {
  if (!op.refusal.any()) op.refusal = std::move(refusal);
}

void add_checked(RowOp& op, const hal::Descriptor& d, int i, Use use) {
  RowOp::Part& part = op.parts.at(static_cast<std::size_t>(op.count++));
  part.region = {d.operand[i].address, op.rows, d.row_bytes(i), d.operand[i].row_stride, 0, use != kIn};
  part.element_bytes = hal::element_bytes(d.type[i]);
  part.in = (use & kIn) != 0;
  part.out = (use & kOut) != 0;
}

// The descriptor's operand i: rows of so many elements of that type.
void add_part(RowOp& op, const hal::Descriptor& d, int i, std::uint64_t elements, ElementType type, Use use) {
  refuse(op, check_operand(d, i, elements, {type}));
  add_checked(op, d, i, use);
}

// FP32 lies on whole words, and no result over another operand, but for an operand given twice; P may be shorter than
// the S whose place it takes.
void check(RowOp& op, const char* name) {
  for (int i = 0; i < op.count; ++i) {
    const RowOp::Part& a = op.parts[static_cast<std::size_t>(i)];
    const Region& r = a.region;
    if (a.element_bytes == 4 && ((r.address | (r.rows > 1 ? r.row_stride : 0)) & 3) != 0) {
      refuse(op, {FaultCode::kMisaligned, r.address, "FP32 rows need addresses and strides of whole 4-byte words"});
    }
    for (int j = i + 1; j < op.count; ++j) {
      const RowOp::Part& b = op.parts[static_cast<std::size_t>(j)];
      if ((!a.out && !b.out) || !overlap(r, b.region)) continue;
      const bool same = r.address == b.region.address && r.row_bytes >= b.region.row_bytes &&
                        (r.rows == 1 || r.row_stride == b.region.row_stride);
      if (same && !a.apart && !b.apart) continue;
      refuse(op, {FaultCode::kOverlap, b.region.address,
                  fmt::format("{} of {} rows: operands {} and {} overlap", name, op.rows, i, j)});
    }
  }
}

// An operand of FP16 that a layer's operation has between products; one row of it where it is a vector.
void add_rows(RowOp& op, const hal::Descriptor& d, int i, std::uint64_t elements, Use use, bool vector = false) {
  add_part(op, d, i, elements, ElementType::kFp16, use);
  RowOp::Part& part = op.parts[static_cast<std::size_t>(op.count) - 1];
  part.kept = part.apart = vector;
  if (vector) part.region.rows = 1;
  const hal::Operand &x = d.operand[0], &o = d.operand[i];
  part.in_place = i > 0 && o.address == x.address && (d.rows == 1 || o.row_stride == x.row_stride);
}

// In lane operations of an element. A norm reads a row twice: sum and sum of squares, then what it makes of each
// element. Exponentials are softmax's. GELU's erf as in Abramowitz and Stegun, 7.1.26: a quotient, a polynomial of five
// terms and an exponential; the form with tanh as a sigmoid of x + 0.044715 x^3.
LaneOperations operations_of(hal::Activation f) {
  switch (f) {
    case hal::Activation::kRelu:
      return {1, 0, 0, 0, 0};
    case hal::Activation::kSilu:
      return {0, 1, 0, 1, 1};
    case hal::Activation::kGelu:
      return {0, 6, 10, 1, 1};
    case hal::Activation::kGeluTanh:
      return {0, 2, 4, 1, 1};
  }
  return {};
}

void add_layer_op(RowOp& op, const hal::Descriptor& d) {
  const std::uint64_t n = op.elements;
  add_rows(op, d, 0, n, kIn);
  add_rows(op, d, 1, n, kOut);
  switch (d.opcode) {
    case hal::Opcode::kNorm: {
      const bool centred = d.tail.norm.centred != 0;
      op.reduces = true;
      op.per_element = centred ? LaneOperations{0, 4, 3, 0, 0} : LaneOperations{0, 1, 3, 0, 0};
      op.per_row = centred ? LaneOperations{0, 2, 3, 0, 2} : LaneOperations{0, 1, 1, 0, 2};
      add_rows(op, d, 2, n, kIn, true);
      if (centred) add_rows(op, d, 3, n, kIn, true);
      if (n > arith::kSoftmaxMaxLength) {
        refuse(op, {FaultCode::kBadOperand, d.operand[0].address,
                    fmt::format("norm of rows of {} elements; the sum is wide enough for {}", n,
                                arith::kSoftmaxMaxLength)});
      }
      break;
    }
    case hal::Opcode::kAdd:
      op.per_element.add = 1;
      add_rows(op, d, 2, n, kIn);
      break;
    case hal::Opcode::kActivate:
      if (d.tail.activate.function > hal::Activation::kGeluTanh) {
        refuse(op, {FaultCode::kBadOperand, d.operand[0].address,
                    fmt::format("activation {}, which there is not", static_cast<int>(d.tail.activate.function))});
      }
      op.per_element = operations_of(d.tail.activate.function);
      if (d.type[2] == ElementType::kNone) break;
      op.per_element.mul += 1;
      add_rows(op, d, 2, n, kIn);
      break;
    default:  // kRotate
      op.per_element.mul = 2;
      op.per_element.add = 1;
      add_rows(op, d, 2, d.operand[2].columns, kIn);
      op.parts[2].apart = true;
      if (d.operand[2].columns < 2 || d.operand[2].columns % 2 != 0 || n % d.operand[2].columns != 0) {
        refuse(op, {FaultCode::kBadOperand, d.operand[2].address,
                    fmt::format("rows of {} elements turned by {} cosines and sines", n, d.operand[2].columns)});
      }
      break;
  }
}

LaneOperations times(const LaneOperations& o, std::uint64_t n) {
  return {o.max * n, o.add * n, o.mul * n, o.exp * n, o.div * n};
}

}  // namespace

Refusal check_probabilities(const hal::Descriptor& d, int i, std::uint64_t columns) {
  return check_operand(
      d, i, columns,
      {ElementType::kFp16, ElementType::kBf16, ElementType::kFp8E4M3, ElementType::kFp8E5M2, ElementType::kInt8});
}

bool is_layer_op(hal::Opcode opcode) { return opcode >= hal::Opcode::kNorm && opcode <= hal::Opcode::kRotate; }
bool is_row_op(hal::Opcode opcode) {
  return (opcode >= hal::Opcode::kOnlineMax && opcode <= hal::Opcode::kRescale) || is_layer_op(opcode);
}

LaneOperations RowOp::all() const {
  const LaneOperations a = times(per_element, visible), b = times(per_row, rows);
  return {a.max + b.max, a.add + b.add, a.mul + b.mul, a.exp + b.exp, a.div + b.div};
}

RowOp row_op_of(const hal::Descriptor& d) {
  RowOp op;
  op.rows = d.rows;
  const bool vector = d.opcode == hal::Opcode::kOnlineMax;
  op.elements = vector ? 1 : d.operand[0].columns;
  if (op.rows == 0 || op.elements == 0) {
    refuse(op,
           {FaultCode::kZeroSize, d.operand[0].address, fmt::format("row operation on {} x {}", op.rows, op.elements)});
    return op;
  }
  op.visible = op.rows * op.elements;
  if (d.opcode == hal::Opcode::kOnlineSoftmax && (d.flags & hal::kMasked) != 0) {
    const RowMask mask(d, op.elements);
    op.visible = 0;
    for (std::uint64_t row = 0; row < op.rows; ++row) op.visible += mask.of(row).count();
  }
  const bool first = (d.flags & hal::kFirst) != 0, two = (d.flags & hal::kTwoScales) != 0;
  const bool unscaled = (d.flags & hal::kUnscaled) != 0, forwarded = (d.flags & hal::kForwarded) != 0;
  const std::uint64_t scales = two ? 2 : 1;
  switch (d.opcode) {
    case hal::Opcode::kOnlineMax:
      op.per_element = {1, 0, 0, 0, 0};
      add_part(op, d, 0, 1, ElementType::kFp16, kIn);
      if (!first) add_part(op, d, 1, 1, ElementType::kFp16, kIn);
      add_part(op, d, 3, 1, ElementType::kFp16, kOut);
      if (!unscaled) {
        op.per_element.add = op.per_element.exp = two ? 2 : 1;
        add_part(op, d, 2, scales, ElementType::kFp32, kOut);
      }
      break;
    case hal::Opcode::kOnlineSoftmax: {
      op.reduces = true;
      op.per_element = kOnlineSoftmaxOfAScore;
      op.per_row = {1, 1, 0, 1, 0};  // running maximum and scale
      refuse(op, check_rules(d));
      add_part(op, d, 0, op.elements, ElementType::kFp16, kIn);
      refuse(op, check_probabilities(d, 1, op.elements));
      add_checked(op, d, 1, kOut);
      add_part(op, d, 2, 1, ElementType::kFp16, first ? kOut : kInOut);
      add_part(op, d, 3, 2, ElementType::kFp32, kOut);
      if (op.elements > arith::kSoftmaxMaxLength) {
        refuse(op, {FaultCode::kBadOperand, d.operand[0].address,
                    fmt::format("rows of {} elements; the sum is wide enough for {}", op.elements,
                                arith::kSoftmaxMaxLength)});
      }
      break;
    }
    case hal::Opcode::kScaleAdd:
      // The first tile is added to zeros: it takes as long as any other.
      op.per_element.add = 1;
      op.per_element.mul = unscaled ? 0 : two ? 2 : 1;
      add_part(op, d, 0, op.elements, ElementType::kFp32, first ? kOut : kInOut);
      add_part(op, d, 1, op.elements, ElementType::kFp32, kIn);
      op.parts[1].from_registers = forwarded;
      op.parts[0].from_registers = forwarded && unscaled;  // scaled there
      if (!unscaled && (!first || two)) add_part(op, d, 2, scales, ElementType::kFp32, kIn);
      break;
    case hal::Opcode::kDivide:
      op.per_element.div = 1;
      add_part(op, d, 0, op.elements, ElementType::kFp32, kIn);
      refuse(op, check_operand(d, 1, op.elements, {ElementType::kFp16, ElementType::kBf16}));
      add_checked(op, d, 1, kOut);
      add_part(op, d, 2, 1, ElementType::kFp32, kIn);
      break;
    case hal::Opcode::kNorm:
    case hal::Opcode::kAdd:
    case hal::Opcode::kActivate:
    case hal::Opcode::kRotate:
      add_layer_op(op, d);
      break;
    default:  // kRescale
      op.per_element.mul = 1;
      op.per_row = {0, 1, 0, 1, 0};
      add_part(op, d, 0, op.elements, ElementType::kFp32, kInOut);
      op.parts[0].to_registers = forwarded;
      add_part(op, d, 1, 1, ElementType::kFp16, kIn);
      add_part(op, d, 2, 1, ElementType::kFp16, kIn);
      break;
  }
  check(op, d.opcode == hal::Opcode::kOnlineSoftmax ? "one-pass softmax" : "row operation");
  return op;
}

void put_probabilities(ElementType type, const RowMask& mask, const RowMask::Columns& columns, const arith::Half* p,
                       unsigned char* row) {
  const std::size_t bytes = hal::element_bytes(type), count = columns.count();
  std::vector<unsigned char> kept(count * bytes);
  arith::narrow_row(p, type, kept.data(), count);
  if (bytes == 1) {
    mask.scatter(kept.data(), columns, row, static_cast<unsigned char>(0));
  } else {
    mask.scatter(reinterpret_cast<const std::uint16_t*>(kept.data()), columns, reinterpret_cast<std::uint16_t*>(row),
                 std::uint16_t{0});
  }
}

namespace {

void compute_layer_op(const hal::Descriptor& d, const std::array<unsigned char*, 4>& operand) {
  const std::size_t n = d.operand[0].columns;
  const auto vector = [&](std::size_t i) {
    std::vector<float> numbers(n);
    arith::floats_from_halves(reinterpret_cast<const arith::Half*>(operand[i]), numbers.data(), n);
    return numbers;
  };
  const bool norm = d.opcode == hal::Opcode::kNorm, centred = norm && d.tail.norm.centred != 0;
  const std::vector<float> gamma = norm ? vector(2) : std::vector<float>(),
                           beta = centred ? vector(3) : std::vector<float>();
  float epsilon = 0;
  std::memcpy(&epsilon, &d.tail.norm.epsilon, sizeof epsilon);
  for (std::uint64_t row = 0; row < d.rows; ++row) {
    const auto half = [&](std::size_t i) {
      return reinterpret_cast<arith::Half*>(operand[i] + row * d.operand[i].row_stride);
    };
    switch (d.opcode) {
      case hal::Opcode::kNorm:
        arith::norm_row(half(0), half(1), n, {gamma.data(), centred ? beta.data() : nullptr}, epsilon);
        break;
      case hal::Opcode::kAdd:
        arith::add_row(half(0), half(2), half(1), n);
        break;
      case hal::Opcode::kActivate:
        arith::activate_row(d.tail.activate.function, half(0), d.type[2] == ElementType::kNone ? nullptr : half(2),
                            half(1), n);
        break;
      default:  // kRotate
        arith::rotate_row(half(0), half(2), half(1), n, d.operand[2].columns);
        break;
    }
  }
}

}  // namespace

void compute_row_op(const hal::Descriptor& d, const std::array<unsigned char*, 4>& operand) {
  if (is_layer_op(d.opcode)) return compute_layer_op(d, operand);
  const bool first = (d.flags & hal::kFirst) != 0, two = (d.flags & hal::kTwoScales) != 0;
  const bool unscaled = (d.flags & hal::kUnscaled) != 0;
  const std::size_t n = d.operand[0].columns;
  const RowMask mask(d, n);
  const bool typed = d.type[1] != ElementType::kFp16;  // of results that may be
  std::vector<arith::Half> seen(mask.masked() || typed ? n : 0);
  for (std::uint64_t row = 0; row < d.rows; ++row) {
    const auto at = [&](std::size_t i) { return operand[i] + row * d.operand[i].row_stride; };
    const auto half = [&](std::size_t i) { return reinterpret_cast<arith::Half*>(at(i)); };
    const auto fp32 = [&](std::size_t i) { return reinterpret_cast<float*>(at(i)); };
    switch (d.opcode) {
      case hal::Opcode::kOnlineMax: {
        const arith::Half m = *half(0), before = first ? m : *half(1);
        const arith::Half now = arith::running_max(before, m);
        *half(3) = now;
        if (unscaled) break;
        fp32(2)[0] = first ? 0 : arith::exp_scale(before, now);
        if (two) fp32(2)[1] = arith::exp_scale(m, now);
        break;
      }
      case hal::Opcode::kOnlineSoftmax: {
        const RowMask::Columns columns = mask.of(row);
        const arith::Half* in = half(0);
        if (mask.masked()) {
          RowMask::gather(in, columns, seen.data());
          in = seen.data();
        }
        arith::Half* const out = mask.masked() || typed ? seen.data() : half(1);
        const arith::Half nothing = arith::kHalfInfinity | arith::kHalfSign;
        const arith::Half m = columns.count() > 0 ? arith::row_max(in, columns.count()) : nothing, before = *half(2);
        const arith::Half now = first ? m : arith::running_max(before, m);
        *half(2) = now;
        fp32(3)[0] = arith::exp_row(in, out, columns.count(), now);
        fp32(3)[1] = first ? 0 : arith::exp_scale(before, now);
        if (typed) {
          put_probabilities(d.type[1], mask, columns, seen.data(), at(1));
        } else if (mask.masked()) {
          mask.scatter(seen.data(), columns, half(1), arith::Half{0});
        }
        break;
      }
      case hal::Opcode::kScaleAdd: {
        float* const r = fp32(0);
        const float* const t = fp32(1);
        const float scale = unscaled ? 1 : fp32(2)[0];
        if (first) {
          for (std::size_t j = 0; j < n; ++j) r[j] = 0;
          arith::scale_add_row(r, 0, t, two ? fp32(2)[1] : 1, n);
        } else if (two) {
          arith::scale_add_row(r, scale, t, fp32(2)[1], n);
        } else {
          arith::scale_add_row(r, scale, t, n);
        }
        break;
      }
      case hal::Opcode::kDivide:
        if (typed) {
          std::vector<float> quotients(n);
          for (std::size_t j = 0; j < n; ++j) quotients[j] = fp32(0)[j] / *fp32(2);
          arith::from_floats(d.type[1], quotients.data(), at(1), n);
          break;
        }
        arith::divide_row(fp32(0), *fp32(2), half(1), n);
        break;
      default: {  // kRescale
        const float scale = arith::exp_scale(*half(1), *half(2));
        for (std::size_t j = 0; j < n; ++j) fp32(0)[j] = arith::scaled(fp32(0)[j], scale);
        break;
      }
    }
  }
}

}  // namespace attnvp
