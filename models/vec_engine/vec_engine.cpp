#include "models/vec_engine/vec_engine.h"

#include <fmt/format.h>

#include "models/arith/softmax.h"

namespace attnvp {

namespace {
constexpr std::uint64_t kHalfBytes = 2;
constexpr std::uint64_t kPasses = 3;  // maximum; exponential and sum; normalise
}  // namespace

VecEngine::VecEngine(sc_core::sc_module_name name, Context& context, const VecConfig& config,
                     std::uint64_t l0_share_bytes, const Place& place)
    : Engine(name, context, place, config.queue_depth, config.pipeline_cycles),
      config_(config),
      l0_share_bytes_(l0_share_bytes) {}

// A row starts on the first lane: its last beat may leave lanes idle.
std::uint64_t VecEngine::row_cycles(std::uint64_t columns) const {
  return (columns * config_.softmax_lane_cycles + config_.lanes - 1) / config_.lanes;
}

Engine::PlanError VecEngine::plan(const hal::Descriptor& d, Plan& plan) {
  if (d.opcode != hal::Opcode::kSoftmax) {
    return {FaultCode::kBadOpcode, 0, fmt::format("a VEC engine has no opcode {}", static_cast<int>(d.opcode))};
  }
  const std::uint64_t rows = d.dims[0];
  const std::uint64_t columns = d.dims[1];
  if (rows == 0 || columns == 0) {
    return {FaultCode::kZeroSize, d.operand[0].address, fmt::format("softmax of {} x {}", rows, columns)};
  }
  if (columns > arith::kSoftmaxMaxLength) {
    return {FaultCode::kBadOperand, d.operand[0].address,
            fmt::format("softmax of rows of {} elements; the sum is wide enough for {}", columns,
                        arith::kSoftmaxMaxLength)};
  }
  const std::uint64_t row_bytes = columns * kHalfBytes;
  Region in{d.operand[0].address, rows, row_bytes, d.operand[0].row_stride};
  Region out{d.operand[1].address, rows, row_bytes, d.operand[1].row_stride};
  out.write = true;
  const bool in_place = in.address == out.address && (rows == 1 || in.row_stride == out.row_stride);
  if (!in_place && overlap(in, out)) {
    return {FaultCode::kOverlap, out.address,
            fmt::format("softmax of {} x {}: source and destination must be the same or apart", rows, columns)};
  }

  const bool row_fits = 2 * row_bytes <= l0_share_bytes_;
  const std::uint64_t reads = row_fits ? 1 : kPasses;
  const auto part = [](Region region, std::uint64_t bytes) {
    region.traffic_bytes = bytes;
    return region;
  };
  plan.fill.add(part(in, row_bytes));
  plan.last.pace_cycles = row_cycles(columns);
  plan.body.pace_cycles = (rows - 1) * plan.last.pace_cycles;
  const std::uint64_t later_rows = (rows - 1) * row_bytes;
  plan.body.add(part(in, later_rows * reads));
  plan.body.add(part(out, later_rows));
  if (!row_fits) plan.last.add(part(in, row_bytes * (kPasses - 1)));
  plan.drain.add(part(out, row_bytes));

  // L0: each pass reads and writes the row once where it is held there.
  const std::uint64_t working_set = row_fits ? 2 * row_bytes : l0_share_bytes_;
  const std::uint64_t accesses = row_fits ? rows * row_bytes * kPasses : rows * row_bytes;
  plan.l0.add({0, 1, working_set, 0, accesses, false});
  plan.l0.add({0, 1, working_set, 0, accesses, true});
  return {};
}

void VecEngine::count(const hal::Descriptor& d) {
  const std::uint64_t n = std::uint64_t{d.dims[0]} * d.dims[1];
  elements += n;
  lane_ops += n * config_.softmax_lane_cycles;
}

void VecEngine::compute_values(const hal::Descriptor& d) {
  for (std::uint64_t row = 0; row < d.dims[0]; ++row) {
    const auto* in =
        reinterpret_cast<const arith::Half*>(l1_bytes(d.operand[0].address + row * d.operand[0].row_stride));
    auto* out = reinterpret_cast<arith::Half*>(l1_bytes(d.operand[1].address + row * d.operand[1].row_stride));
    arith::softmax_row(in, out, d.dims[1], workspace_);
  }
}

}  // namespace attnvp
