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

template <class Plan, class Visit>
void for_each_region(const Plan& plan, const Visit& visit) {
  for (const Stream* stream : {&plan.fill, &plan.body, &plan.last, &plan.drain}) {
    for (int i = 0; i < stream->regions; ++i) visit(stream->region[static_cast<std::size_t>(i)]);
  }
}

}  // namespace

RtlVecEngine::RtlVecEngine(sc_core::sc_module_name name, const Site& site)
    : VecEngine(name, site),
      look_(ctx_.agenda, Call::of<&RtlVecEngine::look>(this)),
      unit_("rtl", site.context, width_of(site.machine.vec), look_),
      linear_("linear", site.context, width_of(site.machine.vec), look_) {}

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

void RtlVecEngine::await(Phase phase, std::function<bool()> there, std::function<void()> then) {
  if (there()) return then();
  await_of(phase) = {std::move(there), std::move(then)};
}

void RtlVecEngine::look() {
  for (Await& a : awaits_) {
    if (a.there == nullptr || !a.there()) continue;
    const Await over = std::exchange(a, {});
    over.then();
  }
}

void RtlVecEngine::begin(Phase phase, const hal::Descriptor& d, const Plan& plan) {
  if (d.opcode == Opcode::kNop) return ended(phase);
  switch (phase) {
    case kFill:
      return await(
          phase, [this] { return !reads_unstored(plan_of(kFill)); }, [this] { fill(kFill); });
    case kRefill:
      return fill(phase);
    case kBody: {
      row_ = 0;
      if (d.opcode == Opcode::kSoftmax && (d.flags & hal::kMasked) == 0) return next_row();
      // Rows need not take equally long: all are fed, and the slower of block and traffic sets the pace.
      const Work& work = *begun_.front();
      for (std::uint64_t row = 1; row < work.rows().rows; ++row) feed(work, row);
      return cross(phase, plan.body);
    }
    case kLast:
      return cross(phase, plan.last);
    case kDrain:
      return await(
          phase, [this] { return leaving_.front()->rows().finished == leaving_.front()->rows().rows; },
          [this] {
            if (ctx_.full_data) store(descriptor_of(kDrain), *leaving_.front());
            leaving_.pop_front();
            look_.soon();  // who waits for what is stored
            cross(kDrain, plan_of(kDrain).drain);
          });
  }
}

void RtlVecEngine::fill(Phase phase) {
  const Plan& plan = plan_of(phase);
  // L1 checks all regions before a block sees an element.
  for (const Stream* stream : {&plan.fill, &plan.body, &plan.drain}) {
    if (!check(*stream)) return;
  }
  const std::shared_ptr<Work> work = work_of(descriptor_of(phase));
  for_each_region(plan, [&](const Region& region) {
    if (region.write) work->writes.push_back(region);
  });
  if (phase == kRefill) {
    begun_.push_front(work);
  } else {
    begun_.push_back(work);
  }
  feed(*work, 0);
  cross(phase, plan.fill);
}

// A row of a plain softmax: the next one is fed while it is loaded.
void RtlVecEngine::next_row() {
  const Work& work = *begun_.front();
  if (row_ + 1 >= work.rows().rows || halt_requested()) return ended(kBody);
  feed(work, row_ + 1);
  row_stream_ = part_of(plan_of(kBody).body, work.rows().rows - 1);
  cross(kBody, row_stream_);
}

void RtlVecEngine::crossed(Phase phase) {
  const hal::Descriptor& d = descriptor_of(phase);
  if (d.opcode == Opcode::kNop || phase == kDrain) return ended(phase);
  if (phase == kFill || phase == kRefill) {
    const RowWork& at = (phase == kFill ? begun_.back() : begun_.front())->rows();
    return await(
        phase, [&at] { return at.loaded > 0; }, [this, phase] { ended(phase); });
  }
  const RowWork& at = begun_.front()->rows();
  if (phase == kLast) {
    return await(
        phase, [this, &at] { return at.taken == at.rows || halt_requested(); },
        [this] {
          if (!halt_requested()) {
            leaving_.push_back(begun_.front());
            begun_.pop_front();
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

// What is on its way in a block goes on; nobody will look at it.
void RtlVecEngine::abandon() { begun_.pop_front(); }

}  // namespace attnvp::rtl
