#include <fmt/format.h>

#include <algorithm>

#include "models/arith/matmul.h"
#include "models/arith/number.h"
#include "models/arith/online.h"
#include "models/engine/mac_engine/edge.h"
#include "models/engine/mac_engine/mac_engine.h"
#include "models/engine/mac_engine/mac_plan.h"
#include "models/engine/row_mask.h"

namespace attnvp {

namespace {
using hal::ElementType;
constexpr std::uint64_t kScoreBytes = hal::element_bytes(ElementType::kFp16);  // in the PEs
constexpr arith::Half kMinusInfinity = arith::kHalfInfinity | arith::kHalfSign;

}  // namespace

std::uint64_t ResidentTiles::passes(std::uint64_t rows, std::uint64_t columns) const {
  return ceil_div(rows, config_.rows) * ceil_div(columns, config_.columns);
}

bool ResidentTiles::fit(std::uint32_t slot, std::uint64_t rows, std::uint64_t columns) const {
  return slot + passes(rows, columns) <= tiles_.size();
}

void ResidentTiles::put(std::uint32_t slot, std::uint64_t rows, std::uint64_t columns) {
  const std::uint64_t end = slot + passes(rows, columns);
  for (std::uint64_t i = slot; i < end; ++i) tiles_[i].rows = tiles_[i].columns = 0;
  tiles_[slot].rows = rows;
  tiles_[slot].columns = columns;
}

bool ResidentTiles::holds(std::uint32_t slot, std::uint64_t rows, std::uint64_t columns) const {
  return slot < tiles_.size() && tiles_[slot].rows == rows && tiles_[slot].columns == columns && rows > 0;
}

// S = A.B^T, m x n over k, in sub-tiles of one pass of the array.
Refusal MacPlanner::plan_score(const hal::Descriptor& d, Plan& plan) {
  const auto [rows, columns, depth] = hal::product_of(d);
  const std::uint64_t m = rows, n = columns, k = depth;
  if (m == 0 || n == 0 || k == 0) {
    return {FaultCode::kZeroSize, d.operand[2].address, fmt::format("scores of {} x {} x {}", m, n, k)};
  }
  Refusal refusal = check_operands(d, 3);
  if (!refusal.any() && hal::has_addends(d)) refusal = check_addends(d);
  if (!refusal.any()) refusal = check_rules(d);
  if (refusal.any()) return refusal;
  const std::uint32_t slot = d.tail.tile.slot;
  if (!resident_.fit(slot, m, n)) {
    return {FaultCode::kBadOperand, 0,
            fmt::format("a tile of {} x {} scores from slot {} on; the PEs hold {} tiles of {} x {}", m, n, slot,
                        config_.resident_tiles, config_.rows, config_.columns)};
  }
  Region a = rows_of(d, 0, m), b = rows_of(d, 1, n);
  a.together = config_.rows;
  b.together = config_.columns;
  const Region maxima = rows_of(d, 2, m, true);
  if (overlap(a, maxima) || overlap(b, maxima)) {
    return {FaultCode::kOverlap, maxima.address, "the row maxima lie over an operand"};
  }
  const Region addends = hal::has_addends(d) ? addend_rows(d) : Region{};
  if (overlap(addends, maxima)) {
    return {FaultCode::kOverlap, maxima.address, "the row maxima lie over the scores' addends"};
  }
  resident_.put(slot, m, n);

  const std::uint64_t m0 = std::min<std::uint64_t>(m, config_.rows), n0 = std::min<std::uint64_t>(n, config_.columns);
  const std::uint64_t passes = resident_.passes(m, n);
  plan.last.pace_cycles = ceil_div(k, rate(d)) + config_.max_cycles;
  plan.body.pace_cycles = (passes - 1) * plan.last.pace_cycles;
  plan.latency_cycles = config_.reduce_cycles + Edge::latency_cycles(d, config_);
  plan.after_previous = (d.flags & hal::kInOrder) != 0;
  const std::uint64_t a_traffic = m * a.row_bytes * ceil_div(n, config_.columns);
  const std::uint64_t b_traffic = n * b.row_bytes * ceil_div(m, config_.rows);
  plan.fill.add(part(a, m0 * a.row_bytes));
  plan.fill.add(part(b, n0 * b.row_bytes));
  plan.body.add(part(a, a_traffic - m0 * a.row_bytes));
  plan.body.add(part(b, b_traffic - n0 * b.row_bytes));
  plan.drain.add(part(maxima, m * maxima.row_bytes));
  if (hal::has_addends(d)) {
    plan.fill.add(part(addends, m0 * n0 * kScoreBytes));
    plan.body.add(part(addends, (m * n - m0 * n0) * kScoreBytes));
  }

  // L0: edges of the array. Sums stay in the PEs and are read and written in every cycle. They count as L0 accesses if
  // the PEs have no registers of their own.
  const std::uint64_t a_bytes = hal::element_bytes(d.type[0]), b_bytes = hal::element_bytes(d.type[1]);
  const std::uint64_t edges = a_traffic + b_traffic;
  const std::uint64_t sums = sums_in_pes() ? 0 : m * n * k * kSumBytes;
  const std::uint64_t working_set = 2 * (m0 * a_bytes + n0 * b_bytes);
  plan.use_l0(working_set, edges + sums + m * n * kScoreBytes, edges + sums);
  return {};
}

// T = [P.V | row sums of P], m x (n + 1) over k keys.
Refusal MacPlanner::plan_attend(const hal::Descriptor& d, Plan& plan) const {
  const auto [rows, columns, depth] = hal::product_of(d);
  const std::uint64_t m = rows, n = columns, k = depth;
  if (m == 0 || n == 0 || k == 0) {
    return {FaultCode::kZeroSize, d.operand[2].address, fmt::format("numerators of {} x {} x {}", m, n, k)};
  }
  Refusal refusal = check_operands(d, 3);
  if (!refusal.any()) refusal = check_rules(d);
  if (refusal.any()) return refusal;
  const std::uint32_t slot = d.tail.tile.slot;
  if (!resident_.holds(slot, m, k)) {
    return {FaultCode::kBadOperand, 0, fmt::format("the PEs hold no tile of {} x {} scores in slot {}", m, k, slot)};
  }
  const Region maxima = rows_of(d, 0, m), v = rows_of(d, 1, k), sums = rows_of(d, 2, m, true);
  if (!is_in_words(sums)) {
    return {FaultCode::kMisaligned, sums.address, "FP32 rows need addresses and strides of whole 4-byte words"};
  }
  if (overlap(maxima, sums) || overlap(v, sums)) {
    return {FaultCode::kOverlap, sums.address, "the numerators lie over an operand"};
  }

  const std::uint64_t m0 = std::min<std::uint64_t>(m, config_.rows), k0 = std::min<std::uint64_t>(k, config_.columns);
  const std::uint64_t row_passes = ceil_div(m, config_.rows);
  const std::uint64_t m_last = m - (row_passes - 1) * config_.rows;
  const std::uint64_t passes = resident_.passes(m, k);
  plan.last.pace_cycles = 2 * config_.add_cycles + config_.exp_cycles + ceil_div(n, rate(d));
  plan.body.pace_cycles = (passes - 1) * plan.last.pace_cycles;
  plan.after_previous = (d.flags & hal::kInOrder) != 0;
  const std::uint64_t v_traffic = k * v.row_bytes * row_passes;
  const bool forwarded = (d.flags & hal::kForwarded) != 0;
  const std::uint64_t results = forwarded ? 0 : m * sums.row_bytes;
  const std::uint64_t last_result = forwarded ? 0 : m_last * sums.row_bytes;
  plan.fill.add(part(maxima, m0 * maxima.row_bytes));
  plan.fill.add(part(v, k0 * v.row_bytes));
  plan.body.add(part(maxima, (m - m0) * maxima.row_bytes));
  plan.body.add(part(v, v_traffic - k0 * v.row_bytes));
  plan.body.add(part(sums, results - last_result));
  plan.drain.add(part(sums, last_result));

  const std::uint64_t v_bytes = hal::element_bytes(d.type[1]);
  // P is read for each column of V, S and P in between. They are in the PEs' registers, whose energy is that of the
  // sums.
  const std::uint64_t in_pes = sums_in_pes() ? 0 : m * k * kScoreBytes * (3 + n);
  const std::uint64_t edges = v_traffic + m * n * ceil_div(k, config_.columns) * kScoreBytes;
  const std::uint64_t working_set = 2 * (m0 * kScoreBytes + k0 * v_bytes);
  plan.use_l0(working_set, in_pes + edges, (sums_in_pes() ? 0 : 2 * m * k * kScoreBytes) + edges);
  return {};
}

MacWork MacPlanner::work_of_tile(const hal::Descriptor& d) const {
  MacWork work;
  const hal::Product p = hal::product_of(d);
  const bool score = hal::is_transposed(d);
  const std::uint64_t m = p.m, keys = score ? p.n : p.k, depth = score ? p.k : p.n;
  const std::uint64_t cycles =
      ceil_div(depth, rate(d)) +
      (score ? config_.max_cycles : 2 * std::uint64_t{config_.add_cycles} + config_.exp_cycles);
  work.macs = m * keys * depth;
  if (sums_in_pes()) work.accumulations = work.macs;
  work.slots = resident_.passes(m, keys) * cycles * config_.rows * config_.columns;
  if (score) {
    work.max_ops = m * keys;
    if ((d.flags & hal::kCapped) != 0) work.exp_ops = m * keys;
  } else {
    work.add_ops = 2 * m * keys;
    work.exp_ops = m * keys;
  }
  work.add_ops += Edge::add_ops(d);
  return work;
}

void MacEngine::compute_tile(const hal::Descriptor& d) {
  const auto [rows, columns, depth] = hal::product_of(d);
  const std::uint64_t m = rows, n = columns, k = depth;
  std::vector<arith::Half>& tile = planner_.resident().scores(d.tail.tile.slot);
  const auto row = [&](int i, std::uint64_t r) { return l1_bytes(d.operand[i].address + r * d.operand[i].row_stride); };
  if (hal::is_transposed(d)) {
    tile.resize(m * n);
    if (d.type[0] != ElementType::kFp16 || Edge::is_used(d)) {
      compute_typed(d, {l1_bytes(d.operand[0].address), d.operand[0].row_stride, d.type[0]}, hal::is_integer(d.type[0]),
                    ElementType::kFp16, reinterpret_cast<unsigned char*>(tile.data()), n * sizeof(arith::Half));
    } else {
      arith::matmul({m, n, k, true}, halves(d, 0), halves(d, 1), {}, arith::MatrixView<arith::Half>{tile.data(), n},
                    workspace_, scale_of(d));
    }
    const RowMask mask(d, n);
    std::vector<arith::Half> seen(mask.masked() ? n : 0);
    for (std::uint64_t r = 0; r < m; ++r) {
      if (mask.masked()) {
        const RowMask::VisibleColumns visible = mask.of(r);
        RowMask::gather(tile.data() + r * n, visible, seen.data());
        mask.scatter(seen.data(), visible, tile.data() + r * n, kMinusInfinity);
      }
      *reinterpret_cast<arith::Half*>(row(2, r)) = arith::row_max(tile.data() + r * n, n);
    }
    return;
  }
  for (std::uint64_t r = 0; r < m; ++r) {
    arith::Half* const p = tile.data() + r * k;
    reinterpret_cast<float*>(row(2, r))[n] = arith::exp_row(p, p, k, *reinterpret_cast<const arith::Half*>(row(0, r)));
  }
  if (d.type[1] != ElementType::kFp16) {  // P, FP16 in the PEs, is converted to the type of V
    const std::size_t bytes = hal::element_bytes(d.type[1]);
    std::vector<unsigned char> kept(tile.size() * bytes);
    arith::narrow_row(tile.data(), d.type[1], kept.data(), tile.size());
    const bool exact = hal::is_integer(d.type[1]) && !Edge(d).sums_in_blocks();
    return compute_typed(d, {kept.data(), k * bytes, d.type[1]}, exact, ElementType::kFp32, row(2, 0),
                         d.operand[2].row_stride);
  }
  const arith::MatrixView<float> sums{reinterpret_cast<float*>(row(2, 0)), d.operand[2].row_stride / sizeof(float)};
  arith::matmul({m, n, k, false}, {tile.data(), k}, halves(d, 1), {}, sums, workspace_);
}

}  // namespace attnvp
