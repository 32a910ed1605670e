#include "rtl/vec/rtl_vec_engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/registry.h"
#include "models/trace/operation.h"
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

const bool kRegistered =
    add_kind(Kind<Engine>("vec", "rtl", "has its datapath in RTL", {"attnvp.vec"}, [](const Site& site) {
               return std::make_unique<RtlVecEngine>(site.name, site);
             }).with_problem(problem));

// One of `parts` equal parts of a stream.
Stream part_of(Stream stream, std::uint64_t parts) {
  for (Region& region : stream.region) region.traffic_bytes /= parts;
  stream.pace_cycles /= parts;
  return stream;
}

// What L1 is to check, without moving a byte.
Stream checks_of(Stream stream) {
  for (Region& region : stream.region) region.traffic_bytes = 0;
  stream.pace_cycles = 0;
  return stream;
}

template <class Plan, class Visit>
void for_each_region(const Plan& plan, const Visit& visit) {
  for (const Stream* stream : {&plan.fill, &plan.body, &plan.last, &plan.drain}) {
    for (int i = 0; i < stream->regions; ++i) visit(stream->region[static_cast<std::size_t>(i)]);
  }
}

}  // namespace

RtlVecEngine::RtlVecEngine(sc_core::sc_module_name name, const Site& site)
    : VecEngine(name, site),
      unit_("rtl", site.context, width_of(site.machine.vec)),
      linear_("linear", site.context, width_of(site.machine.vec)) {}

Refusal RtlVecEngine::plan(const hal::Descriptor& d, Plan& plan) {
  if (is_layer_op(d.opcode)) {
    return {FaultCode::kBadOpcode, d.operand[0].address,
            fmt::format("the RTL of VEC computes softmax and its steps; it has no {}", name_of(operation_of(d)))};
  }
  const bool may_be_short =
      d.opcode == Opcode::kSoftmax || d.opcode == Opcode::kOnlineSoftmax || d.opcode == Opcode::kDivide;
  if (may_be_short && d.type[1] != hal::ElementType::kFp16) {
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

void RtlVecEngine::feed(const Work& work, std::uint64_t row) {
  if (work.vec) unit_.feed(work.vec, row);
  if (work.linear) linear_.feed(work.linear, row);
}

// The model computes one descriptor's values after the other's: so a descriptor here waits for those before it whose
// results it reads, with or without an event, as they take longer than in the model.
bool RtlVecEngine::reads_unstored(const Plan& plan) const {
  bool reads = false;
  for_each_region(plan, [&](const Region& region) {
    if (region.write) return;
    for (const auto* queue : {&begun_, &leaving_}) {
      for (const auto& work : *queue) {
        for (const Region& written : work->writes) reads = reads || overlap(region, written);
      }
    }
  });
  return reads;
}

bool RtlVecEngine::run_fill(const hal::Descriptor& d, const Plan& plan, StreamPayload& payload) {
  if (d.opcode == Opcode::kNop) return true;
  while (!again_ && reads_unstored(plan)) sc_core::wait(stored_);
  // L1 checks all regions before a block sees an element.
  for (const Stream* stream : {&plan.fill, &plan.body, &plan.drain}) {
    Plan checks;
    checks.fill = checks_of(*stream);
    if (!VecEngine::run_fill(d, checks, payload)) return false;
  }
  const std::shared_ptr<Work> work = work_of(d);
  for_each_region(plan, [&](const Region& region) {
    if (region.write) work->writes.push_back(region);
  });
  if (again_) {
    begun_.push_front(work);
  } else {
    begun_.push_back(work);
  }
  again_ = false;
  feed(*work, 0);
  if (!VecEngine::run_fill(d, plan, payload)) return false;
  await(*work, [&] { return work->rows().loaded > 0; });
  return true;
}

bool RtlVecEngine::run_body(const hal::Descriptor& d, const Plan& plan) {
  const std::shared_ptr<Work> work = begun_.front();
  const RowWork& at = work->rows();
  if (d.opcode != Opcode::kSoftmax || (d.flags & hal::kMasked) != 0) {
    // Rows need not take equally long: all are fed, and the slower of block and traffic sets the pace.
    for (std::uint64_t row = 1; row < at.rows; ++row) feed(*work, row);
    return run_execute(plan.body);
  }
  if (at.rows == 1) return true;
  const Stream slot = part_of(plan.body, at.rows - 1);
  for (std::uint64_t row = 0; row + 1 < at.rows && !halt_requested(); ++row) {
    feed(*work, row + 1);
    if (!run_execute(slot)) return false;
    await(*work, [&] { return (at.taken > row && at.loaded > row + 1) || halt_requested(); });
  }
  return true;
}

bool RtlVecEngine::run_last(const hal::Descriptor& d, const Plan& plan) {
  if (d.opcode == Opcode::kNop) return true;
  const std::shared_ptr<Work> work = begun_.front();
  if (!run_execute(plan.last)) return false;
  await(*work, [&] { return work->rows().taken == work->rows().rows || halt_requested(); });
  if (halt_requested()) return true;
  begun_.pop_front();
  leaving_.push_back(work);
  return true;
}

void RtlVecEngine::await_result(const hal::Descriptor& d, std::uint64_t /*drain_at*/) {
  if (d.opcode == Opcode::kNop) return;
  const std::shared_ptr<Work> work = leaving_.front();
  await(*work, [&] { return work->rows().finished == work->rows().rows; });
  if (ctx_.full_data) store(d, *work);
  leaving_.pop_front();
  stored_.notify(sc_core::SC_ZERO_TIME);
}

// What is on its way in a block goes on; nobody will look at it.
void RtlVecEngine::abandon() {
  begun_.pop_front();
  again_ = true;
}

}  // namespace attnvp::rtl
