#include "rtl/vec/rtl_vec_engine.h"

#include <cstring>

#include "models/vec_engine/row_ops.h"

namespace attnvp::rtl {

namespace {

using hal::Opcode;

bool in_rtl(const hal::Descriptor& d) {
  return d.opcode == Opcode::kSoftmax || d.opcode == Opcode::kOnlineSoftmax || d.opcode == Opcode::kOnlineMax;
}

// One of `parts` equal parts of a stream.
Stream part_of(Stream stream, std::uint64_t parts) {
  for (Region& region : stream.region) region.traffic_bytes /= parts;
  stream.pace_cycles /= parts;
  return stream;
}

// All regions of all stages, for L1 to check.
void check_of(const Stream& from, Stream& to) {
  for (int i = 0; i < from.regions; ++i) {
    Region region = from.region[static_cast<std::size_t>(i)];
    region.traffic_bytes = 0;
    to.add(region);
  }
}

}  // namespace

RtlVecEngine::RtlVecEngine(sc_core::sc_module_name name, Context& context, const VecConfig& config,
                           std::uint64_t l0_share_bytes, const Place& place)
    : VecEngine(name, context, config, l0_share_bytes, place),
      unit_("rtl", context, config.lanes / config.softmax_lane_cycles) {}

void RtlVecEngine::reset() {
  VecEngine::reset();
  begun_.clear();
  leaving_.clear();
}

std::shared_ptr<VecWork> RtlVecEngine::work_of(const hal::Descriptor& d) {
  auto work = std::make_shared<VecWork>();
  const bool vector = d.opcode == Opcode::kOnlineMax, online = d.opcode != Opcode::kSoftmax;
  work->rows = d.dims[0];
  work->columns = vector ? 1 : d.dims[1];
  work->in_stride = d.operand[0].row_stride;
  const bool first = (d.flags & hal::kFirst) != 0;
  if (online) work->flags = static_cast<std::uint8_t>(kOnline | (first ? kFirst : 0) | (vector ? kScalar : 0));
  if (!ctx_.full_data) return work;
  work->in = l1_bytes(d.operand[0].address);
  work->out.resize(work->rows * work->columns);
  if (!online) return work;
  work->of_row.resize(work->rows);
  const hal::Operand& before = d.operand[vector ? 1 : 2];
  if (first) return work;
  work->max_in = l1_bytes(before.address);
  work->max_stride = before.row_stride;
  return work;
}

bool RtlVecEngine::run_fill(const hal::Descriptor& d, const Plan& plan, StreamPayload& payload) {
  // Steps of a one-pass softmax read what the steps before them wrote, without waiting for events: here they wait until
  // it is in L1, as results take longer than in the model.
  while (is_row_op(d.opcode) && !again_ && !(begun_.empty() && leaving_.empty())) sc_core::wait(stored_);
  if (!in_rtl(d)) return VecEngine::run_fill(d, plan, payload);
  // L1 checks all regions before the unit sees an element.
  for (const Stream* stream : {&plan.fill, &plan.body, &plan.drain}) {
    Plan checks;
    check_of(*stream, checks.fill);
    if (!VecEngine::run_fill(d, checks, payload)) return false;
  }
  const std::shared_ptr<VecWork> work = work_of(d);
  if (again_) {
    begun_.push_front(work);
  } else {
    begun_.push_back(work);
  }
  again_ = false;
  unit_.feed(work, 0);
  if (!VecEngine::run_fill(d, plan, payload)) return false;
  while (work->loaded == 0) sc_core::wait(unit_.progress());
  return true;
}

bool RtlVecEngine::run_body(const hal::Descriptor& d, const Plan& plan) {
  if (!in_rtl(d)) return VecEngine::run_body(d, plan);
  const std::shared_ptr<VecWork> work = begun_.front();
  if (d.opcode != Opcode::kSoftmax) {
    // Rows need not take equally long: all are fed, and the slower of unit and traffic sets the pace.
    for (std::uint64_t row = 1; row < work->rows; ++row) unit_.feed(work, row);
    return run_execute(plan.body);
  }
  if (work->rows == 1) return true;
  const Stream slot = part_of(plan.body, work->rows - 1);
  for (std::uint64_t row = 0; row + 1 < work->rows && !halt_requested(); ++row) {
    unit_.feed(work, row + 1);
    if (!run_execute(slot)) return false;
    while ((work->taken <= row || work->loaded <= row + 1) && !halt_requested()) sc_core::wait(unit_.progress());
  }
  return true;
}

bool RtlVecEngine::run_last(const hal::Descriptor& d, const Plan& plan) {
  if (!in_rtl(d)) return VecEngine::run_last(d, plan);
  const std::shared_ptr<VecWork> work = begun_.front();
  if (!run_execute(plan.last)) return false;
  while (work->taken < work->rows && !halt_requested()) sc_core::wait(unit_.progress());
  if (halt_requested()) return true;
  begun_.pop_front();
  leaving_.push_back(work);
  return true;
}

void RtlVecEngine::await_result(const hal::Descriptor& d, std::uint64_t drain_at) {
  if (!in_rtl(d)) return VecEngine::await_result(d, drain_at);
  const std::shared_ptr<VecWork> work = leaving_.front();
  while (work->finished < work->rows) sc_core::wait(unit_.progress());
  if (ctx_.full_data) store(d, *work);
  leaving_.pop_front();
  stored_.notify(sc_core::SC_ZERO_TIME);
}

void RtlVecEngine::store(const hal::Descriptor& d, const VecWork& work) {
  const auto put = [&](int operand, std::uint64_t row, const void* data, std::size_t bytes, std::size_t offset = 0) {
    std::memcpy(l1_bytes(d.operand[operand].address + row * d.operand[operand].row_stride) + offset, data, bytes);
  };
  for (std::uint64_t row = 0; row < work.rows; ++row) {
    if (d.opcode != Opcode::kOnlineMax) {
      put(1, row, work.out.data() + row * work.columns, work.columns * sizeof(arith::Half));
    }
    if (d.opcode == Opcode::kSoftmax) continue;
    const VecWork::OfRow& r = work.of_row[row];
    if (d.opcode == Opcode::kOnlineSoftmax) {
      put(2, row, &r.max, sizeof r.max);
      put(3, row, &r.sum, sizeof r.sum);
      put(3, row, &r.scale, sizeof r.scale, sizeof r.sum);
    } else {
      put(3, row, &r.max, sizeof r.max);
      if ((d.flags & hal::kUnscaled) != 0) continue;
      put(2, row, &r.scale, sizeof r.scale);
      if ((d.flags & hal::kTwoScales) != 0) put(2, row, &r.sum, sizeof r.sum, sizeof r.scale);
    }
  }
}

// What is on its way in the unit goes on; nobody will look at it.
void RtlVecEngine::abandon() {
  begun_.pop_front();
  again_ = true;
}

void RtlVecEngine::compute_values(const hal::Descriptor& d) {
  if (!in_rtl(d)) VecEngine::compute_values(d);
}

}  // namespace attnvp::rtl
