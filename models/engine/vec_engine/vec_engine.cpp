#include "models/engine/vec_engine/vec_engine.h"

#include <array>
#include <vector>

#include "models/arith/number.h"
#include "models/arith/online.h"
#include "models/arith/softmax.h"
#include "models/engine/row_mask.h"
#include "models/memory/config.h"
#include "models/registry.h"

namespace attnvp {

namespace {
const bool kRegistered =
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
  if (is_row_op(d.opcode)) {
    std::array<unsigned char*, 4> operand{};
    for (std::size_t i = 0; i < operand.size(); ++i) operand[i] = l1_bytes(d.operand[i].address);
    compute_row_op(d, operand);
    return;
  }
  const RowMask mask(d, d.operand[0].columns);
  const hal::ElementType type = d.type[1];
  const bool typed = type != hal::ElementType::kFp16;
  const bool sunk = (d.flags & hal::kSink) != 0;
  std::vector<arith::Half> seen(mask.masked() || typed ? d.operand[0].columns : 0);
  for (std::uint64_t row = 0; row < d.rows; ++row) {
    const auto* in =
        reinterpret_cast<const arith::Half*>(l1_bytes(d.operand[0].address + row * d.operand[0].row_stride));
    auto* out = reinterpret_cast<arith::Half*>(l1_bytes(d.operand[1].address + row * d.operand[1].row_stride));
    const arith::Half sink = sunk ? sink_of(d, row) : arith::Half{0};
    const arith::Half* const with = sunk ? &sink : nullptr;
    if (!mask.masked() && !typed) {
      arith::softmax_row(in, out, d.operand[0].columns, workspace_, with);
      continue;
    }
    const RowMask::VisibleColumns columns = mask.of(row);
    RowMask::gather(in, columns, seen.data());
    if (typed && arith::is_relative(type) && columns.count() > 0) {
      arith::exp_row(seen.data(), seen.data(), columns.count(), arith::row_max(seen.data(), columns.count()));
    } else {
      arith::softmax_row(seen.data(), seen.data(), columns.count(), workspace_, with);
    }
    if (typed) {
      put_probabilities(type, mask, columns, seen.data(), reinterpret_cast<unsigned char*>(out));
    } else {
      mask.scatter(seen.data(), columns, out, arith::Half{0});
    }
  }
}

}  // namespace attnvp
