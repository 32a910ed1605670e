#include "rtl/vec/rtl_vec_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "models/engine/vec_engine/row_ops.h"
#include "models/registry.h"
#include "models/sim/trace/operation.h"
#include "rtl/vec/vec_rtl.h"

namespace attnvp::rtl {

namespace {

using hal::Opcode;

std::uint64_t width_of(const VecConfig& config) { return config.lanes / config.softmax_lane_cycles; }

std::string problem(const MachineConfig& machine) {
  const VecConfig& vec = machine.vec;
  for (const std::uint64_t width : VecRtl::widths()) {
    if (vec.lanes == width * vec.softmax_lane_cycles) return {};
  }
  return fmt::format("found vec.lanes {} at vec.softmax_lane_cycles {}; allowed are {} elements of softmax a cycle",
                     vec.lanes, vec.softmax_lane_cycles, fmt::join(VecRtl::widths(), ", "));
}

const bool kRtlVecRegistered = add_kind(
    Kind<Engine>("vec", "rtl", "has its datapath in RTL", {"attnvp.vec"}, [](const ModuleContext& module_context) {
      return std::make_unique<RtlVecEngine>(module_context.name, module_context);
    }).with_problem(problem));

Stream part_of(Stream stream, std::uint64_t parts) {
  for (Region& region : stream.region) region.traffic_bytes /= parts;
  stream.pace_cycles /= parts;
  return stream;
}

// True if a row of one region shares bytes only with the same row of the other.
bool match(const Region& a, const Region& b) {
  if (a.rows != b.rows) return false;
  if (a.rows == 1) return true;
  const std::uint64_t stride = a.row_stride;
  return stride == b.row_stride && a.address + a.row_bytes <= b.address + stride &&
         b.address + b.row_bytes <= a.address + stride;
}

std::vector<Region> regions_of(const hal::Descriptor& d) {
  std::vector<Region> regions;
  if (d.opcode == Opcode::kSoftmax) {
    for (const int i : {0, 1}) {
      regions.push_back({d.operand[i].address, d.rows, d.row_bytes(i), d.operand[i].row_stride, 0, i == 1});
    }
    return regions;
  }
  const RowOp op = row_op_of(d);
  for (int i = 0; i < op.count; ++i) {
    const RowOp::OperandPart& part = op.parts[static_cast<std::size_t>(i)];
    regions.push_back(part.region);
    regions.back().write = part.out;
  }
  return regions;
}

}  // namespace

RtlVecEngine::RtlVecEngine(sc_core::sc_module_name name, const ModuleContext& module_context)
    : VecEngine(name, module_context),
      progress_(ctx_.event_queue),
      unit_("rtl", module_context.context, width_of(module_context.machine.vec), progress_),
      linear_("linear", module_context.context, progress_),
      checks_conditions_(check_conditions()) {}

Refusal RtlVecEngine::plan(const hal::Descriptor& d, Plan& plan) {
  if (hal::family_of(d.opcode) == hal::Family::kLayer) {
    return {FaultCode::kBadOpcode, d.operand[0].address,
            fmt::format("the RTL of VEC computes softmax and its steps; it has no {}", name_of(operation_of(d)))};
  }
  if ((d.flags & hal::kSink) != 0) {
    return {FaultCode::kBadOperand, d.operand[0].address,
            fmt::format("the RTL of VEC has no sinks, which this {} has", name_of(operation_of(d)))};
  }
  const hal::OperandInfo* const result = hal::operand_info(d, 1);
  const bool has_type = result != nullptr && result->role == hal::OperandRole::kWritten;
  if (has_type && !hal::info_of(d.type[1]).in_rtl) {
    return {FaultCode::kBadType, d.operand[1].address,
            fmt::format("the RTL of VEC makes results of fp16 only; the {}'s type is {}", name_of(operation_of(d)),
                        name_of(d.type[1]))};
  }
  return VecEngine::plan(d, plan);
}

void RtlVecEngine::reset() {
  VecEngine::reset();
  begun_.clear();
  leaving_.clear();
}

// Sets the earlier descriptors that write bytes which this one accesses, with or without an event between them.
void RtlVecEngine::link(DescriptorWork& work) const {
  work.rows()->sources.clear();
  for (const auto* queue : {&leaving_, &begun_}) {
    for (const auto& earlier : *queue) {
      if (earlier.get() == &work) break;
      bool needed = false, row_by_row = true;
      for (const Region& written : earlier->regions) {
        for (const Region& region : work.regions) {
          if (!written.write || !overlap(written, region)) continue;
          needed = true;
          row_by_row = row_by_row && match(written, region);
        }
      }
      if (needed) work.rows()->sources.push_back({earlier->rows(), row_by_row});
    }
  }
  if (work.linear && work.vec) work.vec->sources = work.linear->sources;
}

void RtlVecEngine::await(PipelinePhase phase, std::function<bool()> there, std::function<void()> then) {
  if (there()) return then();
  await_of(phase) = {std::move(there), std::move(then)};
}

sim::Process RtlVecEngine::check_conditions() {
  for (;;) {
    co_await progress_;
    if (ctx_.full_data) {
      for (const auto& work : leaving_) store(*work);
    }
    for (Await& a : awaits_) {
      if (a.there == nullptr || !a.there()) continue;
      const Await over = std::exchange(a, {});
      over.then();
    }
    unit_.poke();
    linear_.poke();
  }
}

void RtlVecEngine::begin(PipelinePhase phase, const hal::Descriptor& d, const Plan& plan) {
  if (d.opcode == Opcode::kNop) return ended(phase);
  switch (phase) {
    case kFill:
    case kRefill:
      return fill(phase);
    case kBody: {
      row_ = 0;
      if (d.opcode == Opcode::kSoftmax && (d.flags & hal::kMasked) == 0) return next_row();
      // Durations of rows may differ: all rows are fed, and the slower of block and traffic determines the duration.
      const DescriptorWork& work = *begun_.front();
      for (std::uint64_t row = 1; work.vec && row < work.vec->rows; ++row) unit_.feed(work.vec, row);
      if (work.linear) linear_.feed(work.linear, work.linear->rows);
      return cross(phase, plan.body);
    }
    case kLast:
      return cross(phase, plan.last);
    case kDrain:
      return await(
          phase, [this] { return leaving_.front()->rows()->finished == leaving_.front()->rows()->rows; },
          [this] {
            if (ctx_.full_data) store(*leaving_.front());
            leaving_.pop_front();
            cross(kDrain, plan_of(kDrain).drain);
          });
  }
}

// Feeds the first sub-tile, which is loaded, unless it was fed before.
void RtlVecEngine::begin_feeding(DescriptorWork& work) {
  if (work.vec && !std::exchange(work.vec_is_fed, true)) unit_.feed(work.vec, 0);
  if (work.linear && !std::exchange(work.linear_is_fed, true)) linear_.feed(work.linear, work.first_rows);
}

void RtlVecEngine::fill(PipelinePhase phase) {
  const Plan& plan = plan_of(phase);
  // L1 checks all regions before the block receives an element.
  for (const Stream* stream : {&plan.fill, &plan.body, &plan.drain}) {
    if (!check(*stream)) return;
  }
  const hal::Descriptor& d = descriptor_of(phase);
  const std::shared_ptr<DescriptorWork> work = work_of(d);
  work->descriptor = d;
  work->regions = regions_of(d);
  if (phase == kRefill) {
    // Later descriptors that need its rows must follow it in the unit.
    for (const auto& later : begun_) {
      if (later->vec && unit_.withdraw(*later->vec)) later->vec_is_fed = false;
      if (later->linear && linear_.withdraw(*later->linear)) later->linear_is_fed = false;
    }
    begun_.push_front(work);
  } else {
    begun_.push_back(work);
  }
  for (const auto& begun : begun_) link(*begun);
  work->first_rows = d.rows;
  for (int i = 0; i < plan.fill.regions; ++i) {
    const Region& in = plan.fill.region[static_cast<std::size_t>(i)];
    work->first_rows = std::min(work->first_rows, std::max<std::uint64_t>(in.traffic_bytes / in.row_bytes, 1));
  }
  begin_feeding(*work);
  cross(phase, plan.fill);
}

// A row of a plain softmax: the next row is fed while it is loaded.
void RtlVecEngine::next_row() {
  const DescriptorWork& work = *begun_.front();
  if (row_ + 1 >= work.vec->rows || halt_requested()) return ended(kBody);
  unit_.feed(work.vec, row_ + 1);
  row_stream_ = part_of(plan_of(kBody).body, work.vec->rows - 1);
  cross(kBody, row_stream_);
}

void RtlVecEngine::crossed(PipelinePhase phase) {
  const hal::Descriptor& d = descriptor_of(phase);
  if (d.opcode == Opcode::kNop || phase == kDrain) return ended(phase);
  if (phase == kFill || phase == kRefill) {
    const DescriptorWork& work = phase == kFill ? *begun_.back() : *begun_.front();
    if (work.linear) return ended(phase);
    const RowWork& at = *work.vec;
    return await(
        phase, [&at] { return at.loaded > 0; }, [this, phase] { ended(phase); });
  }
  const RowWork& at = *begun_.front()->rows();
  if (phase == kLast) {
    return await(
        phase, [&at, this] { return at.taken == at.rows || halt_requested(); },
        [this] {
          if (!halt_requested()) {
            DescriptorWork& work = *begun_.front();
            work.rows()->executed_at = ctx_.clock.now();
            for (RowWork* part : {static_cast<RowWork*>(work.vec.get()), static_cast<RowWork*>(work.linear.get())}) {
              if (part != nullptr) part->sources.clear();
            }
            leaving_.push_back(begun_.front());
            begun_.pop_front();
            if (!begun_.empty()) begin_feeding(*begun_.front());
            progress_.notify_delta();  // later descriptors may start
          }
          ended(kLast);
        });
  }
  if (d.opcode != Opcode::kSoftmax || (d.flags & hal::kMasked) != 0) return ended(phase);
  await(
      phase, [this, &at] { return (at.taken > row_ && at.loaded > row_ + 1) || halt_requested(); },
      [this] {
        ++row_;
        next_row();
      });
}

// Rows inside the block are completed; their results are ignored.
void RtlVecEngine::abandon() {
  const DescriptorWork& work = *begun_.front();
  if (work.linear && work.linear->fed > 0) linear_.feed(work.linear, work.linear->rows);
  begun_.pop_front();
}

// Conversion of descriptors to work for the blocks, and of results to rows in L1.

namespace {

using hal::Opcode;

constexpr std::uint64_t kFloatBytes = hal::element_bytes(hal::ElementType::kFp32);
constexpr std::uint32_t kOne = 0x3F80'0000, kMinusZero = 0x8000'0000;  // FP32

bool has(const hal::Descriptor& d, int flag) { return (d.flags & flag) != 0; }

}  // namespace

StridedRows RtlVecEngine::rows_of(const hal::Operand& operand, std::uint64_t offset_bytes) {
  if (!ctx_.full_data) return {};
  return {l1_bytes(operand.address) + offset_bytes, operand.row_stride};
}

std::shared_ptr<RtlVecEngine::DescriptorWork> RtlVecEngine::work_of(const hal::Descriptor& d) {
  auto work = std::make_shared<DescriptorWork>();
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

std::shared_ptr<VecRowWork> RtlVecEngine::softmax_of(const hal::Descriptor& d) {
  auto work = std::make_shared<VecRowWork>();
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
std::shared_ptr<VecRowWork> RtlVecEngine::scales_of(const hal::Descriptor& d) {
  auto work = std::make_shared<VecRowWork>();
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
void RtlVecEngine::store(DescriptorWork& work) {
  for (const std::uint64_t finished = work.rows()->finished; work.stored < finished; ++work.stored) {
    if (work.linear) {
      store_linear(work, work.stored);
    } else {
      store_softmax(work, work.stored);
    }
  }
}

void RtlVecEngine::store_linear(const DescriptorWork& work, std::uint64_t row) {
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

void RtlVecEngine::store_softmax(const DescriptorWork& work, std::uint64_t row) {
  const hal::Descriptor& d = work.descriptor;
  const VecRowWork& w = *work.vec;
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
  const VecRowWork::OfRow& r = w.of_row[row];
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
