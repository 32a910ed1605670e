#include "rtl/vec/rtl_vec_engine.h"

#include <cstring>

namespace attnvp::rtl {

namespace {

bool in_rtl(const hal::Descriptor& d) { return d.opcode == hal::Opcode::kSoftmax; }

// One of `parts` equal parts of a stream.
Stream part_of(Stream stream, std::uint64_t parts) {
  for (Region& region : stream.region) region.traffic_bytes /= parts;
  stream.pace_cycles /= parts;
  return stream;
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

bool RtlVecEngine::run_fill(const hal::Descriptor& d, const Plan& plan, StreamPayload& payload) {
  if (!in_rtl(d)) return VecEngine::run_fill(d, plan, payload);
  auto work = std::make_shared<VecWork>();
  work->rows = d.dims[0];
  work->columns = d.dims[1];
  work->in_stride = d.operand[0].row_stride;
  if (again_) {
    begun_.push_front(work);
  } else {
    begun_.push_back(work);
  }
  again_ = false;
  // L1 checks all regions before the unit sees an element.
  Plan checks;
  checks.fill = plan.body;
  checks.fill.pace_cycles = 0;
  for (Region& region : checks.fill.region) region.traffic_bytes = 0;
  if (!VecEngine::run_fill(d, checks, payload)) return false;
  if (ctx_.full_data) {
    work->in = l1_bytes(d.operand[0].address);
    work->out.resize(work->rows * work->columns);
  }
  unit_.feed(work, 0);
  if (!VecEngine::run_fill(d, plan, payload)) return false;
  while (work->loaded == 0) sc_core::wait(unit_.progress());
  return true;
}

bool RtlVecEngine::run_body(const hal::Descriptor& d, const Plan& plan) {
  if (!in_rtl(d)) return VecEngine::run_body(d, plan);
  const std::shared_ptr<VecWork> work = begun_.front();
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
  leaving_.pop_front();
  while (work->finished < work->rows) sc_core::wait(unit_.progress());
  if (!ctx_.full_data) return;
  for (std::uint64_t row = 0; row < work->rows; ++row) {
    std::memcpy(l1_bytes(d.operand[1].address + row * d.operand[1].row_stride), work->out.data() + row * work->columns,
                work->columns * sizeof(arith::Half));
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
