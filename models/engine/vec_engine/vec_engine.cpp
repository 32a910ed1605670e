#include "models/engine/vec_engine/vec_engine.h"

#include <array>

#include "models/memory/config.h"
#include "models/registry.h"

namespace attnvp {

namespace {
const bool kVecRegistered =
    add_kind<Engine>({"vec", "model", "is in SystemC", {"attnvp.vec"}, [](const ModuleContext& module_context) {
                        return std::make_unique<VecEngine>(module_context.name, module_context);
                      }});
}  // namespace

VecEngine::VecEngine(sc_core::sc_module_name name, const ModuleContext& module_context)
    : PipelinedEngine(name, module_context, module_context.machine.vec.queue_depth,
                      module_context.machine.vec.pipeline_cycles),
      lanes_(module_context.machine.vec.lanes),
      planner_(module_context.machine.vec, l0_share_bytes(module_context.machine.l0.size_bytes)) {}

Refusal VecEngine::plan(const hal::Descriptor& d, Plan& plan) { return planner_.plan(d, plan); }

void VecEngine::count(const hal::Descriptor& d) {
  const VecWork work = planner_.work(d);
  elements += work.elements;
  lane_ops += work.lane_ops;
  slots += work.slots;
  max_ops += work.rows.max;
  add_ops += work.rows.add;
  mul_ops += work.rows.mul;
  exp_ops += work.rows.exp;
  div_ops += work.rows.div;
}

std::uint64_t VecEngine::ragged_cycles() const { return (slots.value() - lane_ops.value()) / lanes_; }

void VecEngine::compute_values(const hal::Descriptor& d) {
  std::array<unsigned char*, 4> operand{};
  for (std::size_t i = 0; i < operand.size(); ++i) operand[i] = l1_bytes(d.operand[i].address);
  compute_rows(d, operand, workspace_);
}

}  // namespace attnvp
