#include "models/engine/mac_engine/mac_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/engine/mac_engine/edge.h"
#include "models/engine/row_mask.h"

namespace attnvp {

namespace {

using hal::ElementType;
constexpr ElementType kHalf = ElementType::kFp16;

// Fields of the descriptor in 64 bits.
struct ProductShape {
  explicit ProductShape(const hal::Descriptor& d) : ProductShape(d, hal::product_of(d)) {}
  ProductShape(const hal::Descriptor& d, const hal::Product& p)
      : m(p.m),
        n(p.n),
        k(p.k),
        m0(std::min<std::uint64_t>(d.tail.matmul.m0, m)),
        n0(std::min<std::uint64_t>(d.tail.matmul.n0, n)),
        k0(std::min<std::uint64_t>(d.tail.matmul.k0, k)),
        transposed(hal::is_transposed(d)),
        accumulate((d.flags & hal::kAccumulate) != 0),
        normalised((d.flags & hal::kNormalised) != 0),
        kept((d.flags & hal::kKept) != 0),
        a_bytes(hal::element_bytes(d.type[0])),
        b_bytes(hal::element_bytes(d.type[1])),
        c_bytes(hal::element_bytes(d.type[2])) {}
  MatmulSizes sizes(std::uint64_t rate) const { return {m, n, k, m0, n0, k0, rate}; }
  std::uint64_t m, n, k, m0, n0, k0;
  bool transposed, accumulate, normalised, kept;
  std::uint64_t a_bytes, b_bytes, c_bytes;
};

Refusal check_product(const hal::Descriptor& d, const ProductShape& s) {
  Refusal refusal = check_operands(d, s.accumulate ? 4 : 3);
  if (!refusal.any() && hal::has_addends(d)) refusal = check_addends(d);
  if (!refusal.any() && s.normalised && s.transposed) {
    return {FaultCode::kBadOperand, d.operand[2].address, "a product with a transposed matrix is not normalised"};
  }
  const bool whole_words = s.c_bytes == kSumBytes && d.type[0] != ElementType::kInt8;
  if (!refusal.any() && Edge::is_used(d)) {
    refusal = check_operand(d, 2, hal::value_of(hal::OperandExtent::kResult, d, 2), {kHalf});
  }
  if (!refusal.any() && (d.flags & hal::kBlockScaled) != 0 && d.type[0] != ElementType::kInt8) {
    return {FaultCode::kBadType, d.operand[0].address, "scales of blocks are of int8"};
  }
  if (!refusal.any() && (d.flags & hal::kScaled) != 0 && whole_words && s.a_bytes > 1) {
    return {FaultCode::kBadType, d.operand[2].address,
            "what is scaled is rounded to fp16; the result's type is another"};
  }
  return refusal;
}

}  // namespace

Region addend_rows(const hal::Descriptor& d) {
  return {d.operand[3].address, d.rows, std::uint64_t{addend_columns(d)} * hal::element_bytes(kHalf),
          d.operand[3].row_stride};
}

Refusal check_addends(const hal::Descriptor& d) {
  if (d.opcode == hal::Opcode::kMatmul && (d.flags & hal::kTransposeB) == 0) {
    return {FaultCode::kBadOperand, d.operand[3].address, "addends are of scores: a product with a transposed matrix"};
  }
  return check_operand(d, 3);
}

MatmulPasses MacPlanner::tiles_of(const MatmulSizes& s) {
  MatmulPasses p{};
  p.m_tiles = ceil_div(s.m, s.m0);
  p.n_tiles = ceil_div(s.n, s.n0);
  p.m_last = s.m - (p.m_tiles - 1) * s.m0;
  p.n_last = s.n - (p.n_tiles - 1) * s.n0;
  return p;
}

std::uint64_t MacPlanner::passes(std::uint64_t extent, std::uint64_t tile, std::uint64_t lanes) {
  return extent / tile * ceil_div(tile, lanes) + ceil_div(extent % tile, lanes);
}

// The arrays share the rows of A that cross the parts of B, but a part is loaded row by row, during the one before.
std::uint64_t MacPlanner::weight_cycles(std::uint64_t m, std::uint64_t n, std::uint64_t k, std::uint64_t rate) const {
  const std::uint64_t depth = ceil_div(k, rate);
  const std::uint64_t parts = ceil_div(depth, config_.rows) * ceil_div(n, config_.columns);
  const std::uint64_t loads = ceil_div(parts, config_.weight_arrays) * std::min<std::uint64_t>(depth, config_.rows);
  return std::max(sustained(ceil_div(parts * m, config_.weight_arrays)), loads);
}

MatmulPasses MacPlanner::count_weight_passes(const MatmulSizes& s) const {
  MatmulPasses p = tiles_of(s);
  const auto tiles = [](std::uint64_t count, std::uint64_t size, std::uint64_t last) {
    return std::array{std::pair{count - 1, size}, std::pair{std::uint64_t{1}, last}};
  };
  const std::uint64_t k_tiles = ceil_div(s.k, s.k0), k_last = s.k - (k_tiles - 1) * s.k0;
  for (const auto& [ms, m] : tiles(p.m_tiles, s.m0, p.m_last)) {
    for (const auto& [ns, n] : tiles(p.n_tiles, s.n0, p.n_last)) {
      for (const auto& [ks, k] : tiles(k_tiles, s.k0, k_last))
        p.cycles += ms * ns * ks * weight_cycles(m, n, k, s.rate);
    }
  }
  p.m_passes = p.m_tiles;
  p.n_passes = passes(s.n, s.n0, config_.columns);
  p.last_cycles = weight_cycles(p.m_last, p.n_last, k_last, s.rate);
  return p;
}

MatmulPasses MacPlanner::count_passes(const MatmulSizes& s) const {
  if (config_.weight_arrays > 0) return count_weight_passes(s);
  MatmulPasses p = tiles_of(s);
  const std::uint64_t k_last = s.k - (ceil_div(s.k, s.k0) - 1) * s.k0;
  p.m_passes = passes(s.m, s.m0, config_.rows);
  p.n_passes = passes(s.n, s.n0, config_.columns);
  // `rate` steps of k per cycle, in every pass of the array.
  p.cycles = p.m_passes * p.n_passes * passes(s.k, s.k0, s.rate);
  p.last_cycles = ceil_div(p.m_last, config_.rows) * ceil_div(p.n_last, config_.columns) * ceil_div(k_last, s.rate);
  return p;
}

const MatmulPasses& MacPlanner::passes_of(const MatmulSizes& sizes) const {
  for (const auto& [known, passes] : remembered_) {
    if (known == sizes) return passes;
  }
  auto& entry = remembered_[next_remembered_++ % kRemembered];
  entry = {sizes, count_passes(sizes)};
  return entry.second;
}

Refusal MacPlanner::plan(const hal::Descriptor& d, Plan& plan) {
  if (Refusal refusal = check_opcode(d, hal::Unit::kMac); refusal.any()) return refusal;
  if (is_tile_op(d.opcode)) return hal::is_transposed(d) ? plan_score(d, plan) : plan_attend(d, plan);
  const ProductShape s(d);
  if (s.m == 0 || s.n == 0 || s.k == 0) {
    return {FaultCode::kZeroSize, d.operand[2].address, fmt::format("matmul of {} x {} x {}", s.m, s.n, s.k)};
  }
  if (s.m0 == 0 || s.n0 == 0 || s.k0 == 0) {
    return {FaultCode::kZeroSize, d.operand[2].address,
            fmt::format("matmul with an L0 sub-tile of {} x {} x {}", d.tail.matmul.m0, d.tail.matmul.n0,
                        d.tail.matmul.k0)};
  }

  const std::uint64_t b_rows = s.transposed ? s.n : s.k;
  if (d.tail.matmul.absent >= b_rows) {
    return {FaultCode::kBadOperand, d.operand[1].address,
            fmt::format("{} rows of operand B are absent; allowed are at most {}, one less than it has",
                        d.tail.matmul.absent, b_rows - 1)};
  }
  if (Refusal refusal = check_product(d, s); refusal.any()) return refusal;
  if (Refusal refusal = check_rules(d); refusal.any()) return refusal;
  Region a = rows_of(d, 0, s.m), b = rows_of(d, 1, b_rows);
  a.together = config_.rows;  // a step of k takes an element of each row
  if (s.transposed) b.together = config_.columns;
  const Region c = rows_of(d, 2, s.m, true), sums_in = rows_of(d, 3, s.m);
  if ((s.c_bytes == kSumBytes && !is_in_words(c)) || (s.accumulate && !is_in_words(sums_in))) {
    return {FaultCode::kMisaligned, s.accumulate ? sums_in.address : c.address,
            "FP32 partials need addresses and strides of whole 4-byte words"};
  }
  const bool in_place =
      sums_in.address == c.address && s.c_bytes == kSumBytes && (s.m == 1 || sums_in.row_stride == c.row_stride);
  if (s.accumulate && !in_place && overlap(sums_in, c)) {
    return {FaultCode::kOverlap, c.address, "the result lies over the partials that it starts from"};
  }
  if (overlap(a, c) || overlap(b, c)) {
    return {FaultCode::kOverlap, c.address,
            fmt::format("the result of a {} x {} x {} matmul lies over operand {}", s.m, s.n, s.k,
                        overlap(a, c) ? "A" : "B")};
  }

  const Region addends = hal::has_addends(d) ? addend_rows(d) : Region{};
  if (overlap(addends, c)) return {FaultCode::kOverlap, c.address, "the result lies over its addends"};

  const MatmulPasses& p = passes_of(s.sizes(mac_rate(config_, d.type[0])));
  const bool is_sustained = config_.weight_arrays > 0;  // by count_weight_passes
  const std::uint64_t last_cycles = is_sustained ? p.last_cycles : sustained(p.last_cycles);
  plan.last.pace_cycles = last_cycles;
  plan.body.pace_cycles = (is_sustained ? p.cycles : sustained(p.cycles)) - last_cycles;

  // L1 traffic: A is read once per column of sub-tiles, B once per row of them.
  const std::uint64_t a_traffic = s.m * s.k * s.a_bytes * p.n_tiles;
  const std::uint64_t b_traffic = s.n * s.k * s.b_bytes * p.m_tiles;
  // C, unless its partials stay in L0 or it bypasses L1.
  const bool leaves = !(s.kept && hal::is_partial(d)) && (d.flags & hal::kForwarded) == 0;
  const std::uint64_t c_traffic = leaves ? s.m * s.n * s.c_bytes : 0;
  plan.fill.add(part(a, s.m0 * s.k0 * s.a_bytes));
  plan.fill.add(part(b, s.n0 * s.k0 * s.b_bytes));
  const std::uint64_t last_result = leaves ? p.m_last * p.n_last * s.c_bytes : 0;
  plan.body.add(part(a, a_traffic - s.m0 * s.k0 * s.a_bytes));
  plan.body.add(part(b, b_traffic - s.n0 * s.k0 * s.b_bytes));
  plan.body.add(part(c, c_traffic - last_result));
  plan.drain.add(part(c, last_result));
  if (s.accumulate && !s.kept) {
    plan.fill.add(part(sums_in, s.m0 * s.n0 * kSumBytes));
    plan.body.add(part(sums_in, (s.m * s.n - s.m0 * s.n0) * kSumBytes));
    plan.after_previous = true;
  }
  if (hal::has_addends(d)) {
    const std::uint64_t all = s.m * addends.row_bytes, first = std::min(s.m0 * s.n0 * hal::element_bytes(kHalf), all);
    plan.fill.add(part(addends, first));
    plan.body.add(part(addends, all - first));
  }
  if ((d.flags & hal::kInOrder) != 0) plan.after_previous = true;
  plan.latency_cycles = Edge::latency_cycles(d, config_);

  // L0: double-buffered operands, and FP32 sums of one sub-tile or (kept) of all. The array reads its two edges in
  // every cycle. Every PE reads and writes its sum in a register or in L0. Finally the sums pass through L0.
  const std::uint64_t sums_held = s.kept ? s.m * s.n : s.m0 * s.n0;
  const std::uint64_t working_set = 2 * (s.m0 * s.a_bytes + s.n0 * s.b_bytes) * s.k0 + sums_held * kSumBytes;
  const std::uint64_t edges = (s.m * p.n_passes * s.a_bytes + s.n * p.m_passes * s.b_bytes) * s.k;
  const std::uint64_t results = s.m * s.n * kSumBytes;
  const std::uint64_t sums = sums_in_pes() ? 0 : s.m * s.n * s.k * kSumBytes;
  plan.use_l0(working_set, edges + sums + results, a_traffic + b_traffic + (sums_in_pes() ? results : sums));
  return {};
}

MacWork& MacWork::operator+=(const MacWork& o) {
  macs += o.macs;
  accumulations += o.accumulations;
  slots += o.slots;
  max_ops += o.max_ops;
  add_ops += o.add_ops;
  exp_ops += o.exp_ops;
  return *this;
}

MacWork MacPlanner::work(const hal::Descriptor& d) const {
  if (is_tile_op(d.opcode)) return work_of_tile(d);
  const ProductShape s(d);
  MacWork work;
  work.macs = s.m * s.n * s.k;
  if (sums_in_pes()) work.accumulations = work.macs;
  work.slots = passes_of(s.sizes(mac_rate(config_, d.type[0]))).cycles * pes();
  if ((d.flags & hal::kCapped) != 0) work.exp_ops = s.m * s.n;
  work.add_ops = Edge::add_ops(d);
  return work;
}

}  // namespace attnvp
