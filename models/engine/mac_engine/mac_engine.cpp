#include "models/engine/mac_engine/mac_engine.h"

#include <algorithm>
#include <utility>

#include "models/arith/matmul.h"
#include "models/registry.h"

namespace attnvp {

namespace {
const bool kRegistered =
    add_kind<Engine>({"mac", "model", "is in SystemC", {"attnvp.mac"}, [](const ModuleContext& site) {
                        return std::make_unique<MacEngine>(site.name, site);
                      }});
}  // namespace

MacEngine::MacEngine(sc_core::sc_module_name name, const ModuleContext& site)
    : PipelinedEngine(name, site, site.machine.mac.queue_depth, site.machine.mac.pipeline_cycles),
      planner_(site.machine.mac) {}

Refusal MacEngine::plan(const hal::Descriptor& d, Plan& plan) {
  Refusal refusal = planner_.plan(d, plan);
  if (refusal.any() || d.opcode != hal::Opcode::kMatmul) return refusal;
  const bool keeps = (d.flags & hal::kKept) != 0;
  const std::uint64_t before = std::exchange(kept_, keeps ? d.operand[2].address : 0);
  if (keeps && (d.flags & hal::kAccumulate) != 0 && d.operand[3].address != before) {
    return {FaultCode::kBadOperand, d.operand[3].address,
            "these partials are not those that the matmul before has kept in L0"};
  }
  return {};
}

void MacEngine::count(const hal::Descriptor& d) {
  const MacWork work = planner_.work(d);
  for (const auto& [counter, amount] : {std::pair{&compute, work.macs},
                                        {&slots, work.slots},
                                        {&accumulations, work.accumulations},
                                        {&max_ops, work.max_ops},
                                        {&add_ops, work.add_ops},
                                        {&exp_ops, work.exp_ops}}) {
    *counter += amount;
  }
  rate_ = planner_.rate(d);
}

std::uint64_t MacEngine::ragged_cycles() const { return (slots.value() - compute.value() / rate_) / planner_.pes(); }

unsigned char* MacEngine::factor(const hal::Descriptor& d, int i) {
  unsigned char* const rows = l1_bytes(d.operand[i].address);
  const std::uint32_t absent = i == 1 && d.opcode == hal::Opcode::kMatmul ? d.tail.matmul.absent : 0;
  if (absent == 0) return rows;
  const hal::Product p = hal::product_of(d);
  const std::size_t all = (d.flags & hal::kTransposeB) != 0 ? p.n : p.k, stride = d.operand[i].row_stride;
  completed_.assign(all * stride, 0);
  for (std::size_t row = 0; row < all - absent; ++row) {
    std::copy_n(rows + row * stride, d.row_bytes(i), completed_.data() + row * stride);
  }
  return completed_.data();
}

void MacEngine::compute_values(const hal::Descriptor& d) {
  if (MacPlanner::is_tile_op(d.opcode)) return compute_tile(d);
  if (d.type[0] != hal::ElementType::kFp16 || d.type[2] == hal::ElementType::kBf16 ||
      (d.flags & (hal::kNormalised | hal::kCapped | hal::kSloped | hal::kBucketed)) != 0 || hal::has_addends(d)) {
    return compute_typed(d);
  }
  const hal::Product p = hal::product_of(d);
  const auto half = [&](int i) {
    return arith::Matrix<const arith::Half>{reinterpret_cast<const arith::Half*>(factor(d, i)),
                                            d.operand[i].row_stride / sizeof(arith::Half)};
  };
  const hal::Operand& out = d.operand[2];
  unsigned char* c = l1_bytes(out.address);
  arith::Matrix<const float> partials;
  if ((d.flags & hal::kAccumulate) != 0) {
    partials = {reinterpret_cast<const float*>(l1_bytes(d.operand[3].address)),
                d.operand[3].row_stride / sizeof(float)};
  }
  const arith::MatmulShape shape{p.m, p.n, p.k, (d.flags & hal::kTransposeB) != 0};
  if (d.type[2] == hal::ElementType::kFp32) {
    arith::matmul(shape, half(0), half(1), partials,
                  arith::Matrix<float>{reinterpret_cast<float*>(c), out.row_stride / sizeof(float)}, workspace_);
  } else {
    arith::matmul(shape, half(0), half(1), partials,
                  arith::Matrix<arith::Half>{reinterpret_cast<arith::Half*>(c), out.row_stride / sizeof(arith::Half)},
                  workspace_, scale_of(d));
  }
}

}  // namespace attnvp
