#include "models/mac_engine/mac_engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/arith/matmul.h"

namespace attnvp {

namespace {

constexpr std::uint64_t kHalfBytes = 2;
constexpr std::uint64_t kPartialBytes = 4;

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

// The descriptor's fields, in words one can compute with.
struct Shape {
  explicit Shape(const hal::Descriptor& d)
      : m(d.dims[0]),
        n(d.dims[1]),
        k(d.dims[2]),
        m0(std::min<std::uint64_t>(d.tile[0], m)),
        n0(std::min<std::uint64_t>(d.tile[1], n)),
        k0(std::min<std::uint64_t>(d.tile[2], k)),
        transposed((d.flags & hal::kTransposeB) != 0),
        accumulate((d.flags & hal::kAccumulate) != 0),
        c_bytes((d.flags & hal::kPartialOut) != 0 ? kPartialBytes : kHalfBytes) {}
  std::uint64_t m, n, k, m0, n0, k0;
  bool transposed, accumulate;
  std::uint64_t c_bytes;
};

}  // namespace

MacEngine::MacEngine(sc_core::sc_module_name name, Context& context, const MacConfig& config, const Place& place)
    : Engine(name, context, place, config.queue_depth, config.pipeline_cycles), config_(config), resident_(config) {}

std::uint64_t MacEngine::passes(std::uint64_t extent, std::uint64_t tile, std::uint64_t lanes) {
  return extent / tile * ceil_div(tile, lanes) + ceil_div(extent % tile, lanes);
}

Engine::PlanError MacEngine::plan(const hal::Descriptor& d, Plan& plan) {
  if (d.opcode == hal::Opcode::kScoreTile) return plan_score(d, plan);
  if (d.opcode == hal::Opcode::kAttendTile) return plan_attend(d, plan);
  if (d.opcode != hal::Opcode::kMatmul) {
    return {FaultCode::kBadOpcode, 0, fmt::format("a MAC engine has no opcode {}", static_cast<int>(d.opcode))};
  }
  const Shape s(d);
  if (s.m == 0 || s.n == 0 || s.k == 0) {
    return {FaultCode::kZeroSize, d.operand[2].address, fmt::format("matmul of {} x {} x {}", s.m, s.n, s.k)};
  }
  if (s.m0 == 0 || s.n0 == 0 || s.k0 == 0) {
    return {FaultCode::kZeroSize, d.operand[2].address,
            fmt::format("matmul with an L0 sub-tile of {} x {} x {}", d.tile[0], d.tile[1], d.tile[2])};
  }

  Region a{d.operand[0].address, s.m, s.k * kHalfBytes, d.operand[0].row_stride};
  Region b{d.operand[1].address, s.transposed ? s.n : s.k, (s.transposed ? s.k : s.n) * kHalfBytes,
           d.operand[1].row_stride};
  Region c{d.operand[2].address, s.m, s.n * s.c_bytes, d.operand[2].row_stride};
  c.write = true;
  const auto whole_words = [&](const Region& r) { return ((r.address | (s.m > 1 ? r.row_stride : 0)) & 3) == 0; };
  const Region sums_in{d.operand[3].address, s.m, s.n * kPartialBytes, d.operand[3].row_stride};
  if ((s.c_bytes == kPartialBytes && !whole_words(c)) || (s.accumulate && !whole_words(sums_in))) {
    return {FaultCode::kMisaligned, s.accumulate ? sums_in.address : c.address,
            "FP32 partials need addresses and strides of whole 4-byte words"};
  }
  const bool in_place =
      sums_in.address == c.address && s.c_bytes == kPartialBytes && (s.m == 1 || sums_in.row_stride == c.row_stride);
  if (s.accumulate && !in_place && overlap(sums_in, c)) {
    return {FaultCode::kOverlap, c.address, "the result lies over the partials that it starts from"};
  }
  if (overlap(a, c) || overlap(b, c)) {
    return {FaultCode::kOverlap, c.address,
            fmt::format("the result of a {} x {} x {} matmul lies over operand {}", s.m, s.n, s.k,
                        overlap(a, c) ? "A" : "B")};
  }

  const std::uint64_t m_tiles = ceil_div(s.m, s.m0);
  const std::uint64_t n_tiles = ceil_div(s.n, s.n0);
  const std::uint64_t m_last = s.m - (m_tiles - 1) * s.m0;
  const std::uint64_t n_last = s.n - (n_tiles - 1) * s.n0;
  const std::uint64_t k_last = s.k - (ceil_div(s.k, s.k0) - 1) * s.k0;
  const std::uint64_t m_passes = passes(s.m, s.m0, config_.rows);
  const std::uint64_t n_passes = passes(s.n, s.n0, config_.columns);

  // Compute: one cycle per step of k for every pass of the array.
  const std::uint64_t cycles = m_passes * n_passes * s.k;
  plan.last.pace_cycles = ceil_div(m_last, config_.rows) * ceil_div(n_last, config_.columns) * k_last;
  plan.body.pace_cycles = cycles - plan.last.pace_cycles;

  // L1 traffic: A is read once per column of sub-tiles, B once per row of them.
  const std::uint64_t a_traffic = s.m * s.k * kHalfBytes * n_tiles;
  const std::uint64_t b_traffic = s.n * s.k * kHalfBytes * m_tiles;
  const std::uint64_t c_traffic = s.m * s.n * s.c_bytes;
  const auto part = [](Region region, std::uint64_t bytes) {
    region.traffic_bytes = bytes;
    return region;
  };
  plan.fill.add(part(a, s.m0 * s.k0 * kHalfBytes));
  plan.fill.add(part(b, s.n0 * s.k0 * kHalfBytes));
  const std::uint64_t last_result = m_last * n_last * s.c_bytes;
  plan.body.add(part(a, a_traffic - s.m0 * s.k0 * kHalfBytes));
  plan.body.add(part(b, b_traffic - s.n0 * s.k0 * kHalfBytes));
  plan.body.add(part(c, c_traffic - last_result));
  plan.drain.add(part(c, last_result));
  if (s.accumulate) {
    Region partials{d.operand[3].address, s.m, s.n * kPartialBytes, d.operand[3].row_stride, s.m * s.n * kPartialBytes};
    plan.fill.add(part(partials, s.m0 * s.n0 * kPartialBytes));
    partials.traffic_bytes -= s.m0 * s.n0 * kPartialBytes;
    plan.body.add(partials);
    plan.after_previous = true;
  }
  if ((d.flags & hal::kInOrder) != 0) plan.after_previous = true;

  // L0: operands double-buffered, FP32 sums of one sub-tile. Every cycle the array reads its two edges, and every PE
  // reads and writes its sum: PEs have no registers of their own. At the end the sums are read once more.
  const std::uint64_t working_set = 2 * (s.m0 + s.n0) * s.k0 * kHalfBytes + s.m0 * s.n0 * kPartialBytes;
  const std::uint64_t edges = (s.m * n_passes + s.n * m_passes) * s.k * kHalfBytes;
  const std::uint64_t sums = s.m * s.n * s.k * kPartialBytes;
  plan.l0.add({0, 1, working_set, 0, edges + sums + s.m * s.n * kPartialBytes, false});
  plan.l0.add({0, 1, working_set, 0, a_traffic + b_traffic + sums, true});
  return {};
}

void MacEngine::count(const hal::Descriptor& d) {
  if (is_tile_op(d.opcode)) return count_tile(d);
  const Shape s(d);
  compute += s.m * s.n * s.k;
  slots += passes(s.m, s.m0, config_.rows) * passes(s.n, s.n0, config_.columns) * s.k * config_.rows * config_.columns;
}

void MacEngine::compute_values(const hal::Descriptor& d) {
  if (is_tile_op(d.opcode)) return compute_tile(d);
  const Shape s(d);
  const auto half = [&](int i) {
    const hal::Operand& o = d.operand[i];
    return arith::Matrix<const arith::Half>{reinterpret_cast<const arith::Half*>(l1_bytes(o.address)),
                                            o.row_stride / kHalfBytes};
  };
  const hal::Operand& out = d.operand[2];
  unsigned char* c = l1_bytes(out.address);
  arith::Matrix<const float> partials;
  if (s.accumulate) {
    partials = {reinterpret_cast<const float*>(l1_bytes(d.operand[3].address)),
                d.operand[3].row_stride / kPartialBytes};
  }
  const arith::MatmulShape shape{s.m, s.n, s.k, s.transposed};
  if (s.c_bytes == kPartialBytes) {
    arith::matmul(shape, half(0), half(1), partials,
                  arith::Matrix<float>{reinterpret_cast<float*>(c), out.row_stride / kPartialBytes}, workspace_);
  } else {
    arith::matmul(shape, half(0), half(1), partials,
                  arith::Matrix<arith::Half>{reinterpret_cast<arith::Half*>(c), out.row_stride / kHalfBytes},
                  workspace_);
  }
}

}  // namespace attnvp
