// Conversion of descriptors to work for the blocks, and of results to rows in L1.
#include <algorithm>
#include <cstring>

#include "rtl/vec/rtl_vec_engine.h"

namespace attnvp::rtl {

namespace {

using hal::Opcode;

constexpr std::uint64_t kFloatBytes = hal::element_bytes(hal::ElementType::kFp32);
constexpr std::uint32_t kOne = 0x3F80'0000, kMinusZero = 0x8000'0000;  // FP32

bool has(const hal::Descriptor& d, int flag) { return (d.flags & flag) != 0; }

}  // namespace

Rows RtlVecEngine::rows_of(const hal::Operand& operand, std::uint64_t offset_bytes) {
  if (!ctx_.full_data) return {};
  return {l1_bytes(operand.address) + offset_bytes, operand.row_stride};
}

std::shared_ptr<RtlVecEngine::Work> RtlVecEngine::work_of(const hal::Descriptor& d) {
  auto work = std::make_shared<Work>();
  switch (d.opcode) {
    case Opcode::kSoftmax:
    case Opcode::kOnlineSoftmax:
    case Opcode::kOnlineMax:
      work->vec = softmax_of(d);
      break;
    case Opcode::kRescale:
      work->vec = scales_of(d);
      work->linear = linear_of(d);
      work->linear->scales = work->vec;
      break;
    default:  // kScaleAdd, kDivide
      work->linear = linear_of(d);
      break;
  }
  return work;
}

std::shared_ptr<VecWork> RtlVecEngine::softmax_of(const hal::Descriptor& d) {
  auto work = std::make_shared<VecWork>();
  const bool vector = d.opcode == Opcode::kOnlineMax, online = d.opcode != Opcode::kSoftmax;
  const bool first = has(d, hal::kFirst);
  work->rows = d.rows;
  work->columns = vector ? 1 : d.operand[0].columns;
  work->in = rows_of(d.operand[0]);
  if (ctx_.full_data) work->out.resize(work->rows * work->columns);
  const RowMask mask(d, work->columns);
  for (std::uint64_t row = 0; mask.masked() && !vector && row < work->rows; ++row) work->seen.push_back(mask.of(row));
  if (!online) return work;
  work->flags = static_cast<std::uint8_t>(kOnline | (first ? kFirst : 0) | (vector ? kScalar : 0));
  if (!first) work->max_in = rows_of(d.operand[vector ? 1 : 2]);
  if (ctx_.full_data) work->of_row.resize(work->rows);
  return work;
}

// e^(M before - M) of every row.
std::shared_ptr<VecWork> RtlVecEngine::scales_of(const hal::Descriptor& d) {
  auto work = std::make_shared<VecWork>();
  work->rows = d.rows;
  work->columns = 1;
  work->flags = kOnline | kScalar | kGiven;
  work->in = rows_of(d.operand[1]);
  work->max_in = rows_of(d.operand[2]);
  if (ctx_.full_data) work->of_row.resize(work->rows);
  return work;
}

std::shared_ptr<LinearWork> RtlVecEngine::linear_of(const hal::Descriptor& d) {
  auto work = std::make_shared<LinearWork>();
  work->rows = d.rows;
  work->columns = d.operand[0].columns;
  if (ctx_.full_data) work->out.resize(work->rows * work->columns);
  work->x.rows = rows_of(d.operand[0]);
  switch (d.opcode) {
    case Opcode::kScaleAdd:
      // The first tile has no earlier sums.
      if (has(d, hal::kFirst)) work->x = {};
      work->z.rows = rows_of(d.operand[1]);
      work->a.otherwise = work->b.otherwise = kOne;
      if (has(d, hal::kFirst)) {
        work->a.otherwise = 0;
      } else if (!has(d, hal::kUnscaled)) {
        work->a.rows = rows_of(d.operand[2]);
      }
      if (has(d, hal::kTwoScales)) work->b.rows = rows_of(d.operand[2], kFloatBytes);
      break;
    case Opcode::kDivide:
      work->divide = true;
      work->a.rows = rows_of(d.operand[2]);
      break;
    default:  // kRescale: x * a only
      work->z.otherwise = kMinusZero;
      work->b.otherwise = kOne;
      break;
  }
  return work;
}

// Stores the rows that have left their block since the last call.
void RtlVecEngine::store(Work& work) {
  for (const std::uint64_t finished = work.rows()->finished; work.stored < finished; ++work.stored) {
    if (work.linear) {
      store_linear(work, work.stored);
    } else {
      store_softmax(work, work.stored);
    }
  }
}

void RtlVecEngine::store_linear(const Work& work, std::uint64_t row) {
  const hal::Descriptor& d = work.descriptor;
  const std::uint64_t columns = work.linear->columns;
  const std::uint32_t* from = work.linear->out.data() + row * columns;
  const hal::Operand& to = d.operand[d.opcode == Opcode::kDivide ? 1 : 0];
  unsigned char* const bytes = l1_bytes(to.address + row * to.row_stride);
  if (d.opcode == Opcode::kDivide) {
    std::transform(from, from + columns, reinterpret_cast<arith::Half*>(bytes),
                   [](std::uint32_t x) { return static_cast<arith::Half>(x); });
  } else {
    std::memcpy(bytes, from, columns * kFloatBytes);
  }
}

void RtlVecEngine::store_softmax(const Work& work, std::uint64_t row) {
  const hal::Descriptor& d = work.descriptor;
  const VecWork& w = *work.vec;
  const auto put = [&](int operand, const void* data, std::size_t bytes, std::size_t offset = 0) {
    std::memcpy(l1_bytes(d.operand[operand].address + row * d.operand[operand].row_stride) + offset, data, bytes);
  };
  if (!w.seen.empty()) {
    unsigned char* const to = l1_bytes(d.operand[1].address + row * d.operand[1].row_stride);
    RowMask(d, w.columns)
        .scatter(w.out.data() + row * w.columns, w.seen[row], reinterpret_cast<arith::Half*>(to), arith::Half{0});
  } else if (d.opcode != Opcode::kOnlineMax) {
    put(1, w.out.data() + row * w.columns, w.columns * sizeof(arith::Half));
  }
  if (d.opcode == Opcode::kSoftmax) return;
  const VecWork::OfRow& r = w.of_row[row];
  if (d.opcode == Opcode::kOnlineSoftmax) {
    put(2, &r.max, sizeof r.max);
    put(3, &r.sum, sizeof r.sum);
    put(3, &r.scale, sizeof r.scale, sizeof r.sum);
    return;
  }
  put(3, &r.max, sizeof r.max);
  if (has(d, hal::kUnscaled)) return;
  put(2, &r.scale, sizeof r.scale);
  if (has(d, hal::kTwoScales)) put(2, &r.sum, sizeof r.sum, sizeof r.scale);
}

}  // namespace attnvp::rtl
