// Choice of a smaller job for low-fidelity evaluation (Sample).
#include <algorithm>

#include "explore/tuning/evaluator.h"
#include "firmware/hal/element_types.h"
#include "models/memory/banked_dram/config.h"
#include "models/memory/config.h"
#include "platform/machine/error.h"
#include "platform/schedule/counter.h"
#include "platform/workload/resize.h"

namespace attnvp::explore {

namespace {

using workload::Attention;
using workload::Gemm;
using workload::rounded_up;
using workload::RowOperation;

// Events are counted up to this factor of the wanted number.
constexpr std::uint64_t kMostSteps = 64;
// Minimum per core, in array rows or columns, for attention and for products (which are tiled in both dimensions).
constexpr std::uint32_t kFewestBlocks = 4, kFewestOfProduct = 16;
// The same for the columns between two products, of which the sample has half, too. Assumption: tiles of half of them
// are wide enough.
constexpr std::uint32_t kFewestBetween = 64;
// Fewer clusters are used if the events that remain are at most the wanted number divided by this.
constexpr double kEnoughOfProduct = 0.25;
// Fewest columns of a product behind a cache. No tile is wider then. Assumption: wider tiles gain nothing there.
constexpr std::uint32_t kFewestColumns = 512;
// Depth of the larger sample of a product. The part of its time that does not repeat with the depth (first loads, store
// of the result) is at most the rest of kRepeatedOfDepth.
constexpr std::uint32_t kShallow = 512;
constexpr double kRepeatedOfDepth = 0.5;

// Two sizes of a job, of one and two units of work.
Sample two_sizes(const Problem& p, const workload::Workload& small, const workload::Workload& large, double work_all) {
  Sample s{p, p, 1, 2, work_all};
  s.small.network = small;
  s.large.network = large;
  return s;
}

// The job is the sample: fewer clusters, which have their share of all that clusters share.
Sample one_size(const Problem& p) { return {p, p, 0, 1, 1}; }

// Reduces keys to about the wanted number of events, but keeps a tile for every core.
std::optional<Sample> fewer_keys(const Problem& p, const Attention& n, double share) {
  const double least = kFewestBlocks * p.machine.mac.columns * p.machine.clusters * p.machine.cores;
  share = std::max(share, least / (keys_of(n) * n.heads_of_kv()));
  if (share > 0.5) return std::nullopt;
  const Attention large = with_keys(n, share);
  return two_sizes(p, with_keys(n, share / 2), large, 2 * keys_of(n) / keys_of(large));
}

// A product with fewer rows, and with fewer columns if rows do not suffice. If it reduces columns, the smaller size has
// half of them.
std::optional<Sample> smaller_product(const Problem& p, const Gemm& g, double share, std::uint32_t least_rows,
                                      std::uint32_t least_columns) {
  const auto part = [](std::uint32_t extent, double wanted, std::uint32_t least) {
    return std::min(extent, std::max(rounded_up(extent * wanted, least), least));
  };
  Gemm large = with_rows(g, part(g.rows, share, least_rows));
  large = with_columns(large, part(g.columns, share * g.rows / large.rows, least_columns));
  const Gemm small =
      large.columns < g.columns ? with_columns(large, large.columns / 2) : with_rows(large, large.rows / 2);
  const double work_all = 2.0 * g.rows / large.rows * g.columns / large.columns;
  return work_all >= 4 ? std::optional<Sample>(two_sizes(p, small, large, work_all)) : std::nullopt;
}

// Bytes of a product in DRAM: A; B with its scales, and the result with the residual.
double bytes_of_a(const Gemm& g) { return 1.0 * g.rows * g.depth * hal::element_bytes(g.type); }
double bytes_of_others(const Gemm& g) {
  return static_cast<double>(g.weight_bytes()) +
         1.0 * g.rows * g.result_columns() * (g.fusion.has_residual ? 2 : 1) * hal::element_bytes(g.type);
}

// `parts` times fewer clusters with their share of the columns and of the bandwidth: every cluster has as many blocks
// as in the whole product, also in the last round of an uneven distribution. The memory needs as long as for the whole
// product's operands.
Problem on_fewer_clusters(Problem p, const Gemm& g, std::uint32_t parts) {
  MachineConfig& m = p.machine;
  p.network = with_columns(g, g.columns / parts);
  m.clusters /= parts;
  double part = 1.0 / parts;
  if (m.dram.policy == "cached") {
    auto& cache = m.own<CacheConfig>();
    const double a = bytes_of_a(g), others = bytes_of_others(g), bytes = static_cast<double>(cache.size_bytes);
    cache.bytes_per_second /= parts;
    cache.size_bytes = static_cast<std::uint64_t>(bytes > a ? a + (bytes - a) / parts : bytes / parts);
    part = (a + others / parts) / (a + others);
  }
  m.dram.bytes_per_second *= part;
  return p;
}

// The product with less depth. The cache shrinks as the operands do.
Sample shallower(const Problem& p) {
  const Gemm& g = *p.network.gemm();
  Sample parts = two_sizes(p, with_depth(g, kShallow / 2), with_depth(g, kShallow), 2.0 * g.depth / kShallow);
  for (Problem* size : {&parts.small, &parts.large}) {
    const Gemm& part = *size->network.gemm();
    std::uint64_t& bytes = size->machine.own<CacheConfig>().size_bytes;
    bytes = static_cast<std::uint64_t>(static_cast<double>(bytes) * (bytes_of_a(part) + bytes_of_others(part)) /
                                       (bytes_of_a(g) + bytes_of_others(g)));
  }
  parts.repeated = kRepeatedOfDepth;
  return parts;
}

// Fewer clusters and, behind a cache, less depth.
std::optional<Sample> product_of_equal_blocks(const Problem& p, const Gemm& g, double share) {
  const MachineConfig& m = p.machine;
  const bool is_cached = m.dram.policy == "cached";
  if (m.interconnect.kind != "ideal" || m.has_l2() || (!is_cached && m.dram.policy != "fixed")) return std::nullopt;
  const std::uint32_t least_columns = is_cached ? kFewestColumns : 1;
  std::uint32_t parts = 1;
  for (std::uint32_t d = 2; m.has_equal_clusters() && d <= m.clusters && parts * share < 1; ++d) {
    if (m.clusters % d == 0 && g.columns % (d * m.mac.columns) == 0 && g.columns / d >= least_columns) parts = d;
  }
  if (is_cached && g.depth >= 4 * kShallow) return shallower(on_fewer_clusters(p, g, parts));
  if (parts * share < kEnoughOfProduct) return std::nullopt;
  return one_size(on_fewer_clusters(p, g, parts));
}

// Extent for about the wanted number of events; 0 if it is too short to be reduced.
std::uint32_t reduced(std::uint32_t extent, double share, const MachineConfig& m) {
  const std::uint32_t rows = m.mac.rows * m.cores;
  const std::uint32_t some = std::max(rounded_up(extent * share, 2 * rows), kFewestBlocks * rows);
  return some * 2 <= extent ? some : 0;
}

// Fewer clusters with their share of the bandwidth, then fewer heads, then fewer rows.
std::optional<Sample> smaller_attention(const Problem& whole, const job::Schedule& schedule, std::uint64_t steps) {
  Problem p = whole;
  p.network = whole.network.attention();
  MachineConfig& m = p.machine;
  Attention& n = p.network.attention();
  std::uint64_t units = units_of(n);
  // One cluster if all clusters are equal, have equal shares of the heads, and share only the bandwidth of one DRAM.
  const bool has_one_cluster = m.clusters > 1 && m.dram.policy == "fixed" && m.interconnect.kind == "ideal" &&
                               !m.has_l2() && m.has_equal_clusters() && units % m.clusters == 0;
  if (has_one_cluster) {
    m.dram.bytes_per_second /= m.clusters;
    units /= m.clusters;
    m.clusters = 1;
    n = with_units(n, units);
  }
  // At least one head per core, because some dataflows assign whole heads to cores.
  const std::uint64_t round = std::uint64_t{m.clusters} * m.cores, one_round = std::min(units, round);
  std::optional<Sample> s;
  if (units >= 3 * round) {
    s = two_sizes(p, with_units(n, round), with_units(n, 2 * round),
                  static_cast<double>(units) / static_cast<double>(round));
  }
  const std::uint64_t here = steps_of(s ? s->large : p, schedule, kMostSteps * steps);
  const double share = static_cast<double>(steps) / static_cast<double>(here);
  const bool keeps_rows = n.mask.by_place() && n.mask.history + n.seq_q != n.seq_kv;
  const std::uint32_t rows = keeps_rows || share >= 1 ? 0 : reduced(n.seq_q, share, m);
  if (rows > 0) {  // one round of heads, with all of its rows and with half of them
    const Attention one = with_units(n, one_round);
    const double all_rounds = static_cast<double>(units) / static_cast<double>(one_round);
    return two_sizes(p, with_rows(one, rows / 2), with_rows(one, rows), 2.0 * all_rounds * n.seq_q / rows);
  }
  if (!s && has_one_cluster) s = one_size(p);
  return s;
}

}  // namespace

std::uint64_t steps_of(const Problem& p, const job::Schedule& schedule, std::uint64_t most) {
  const MachineConfig& m = p.machine;
  std::uint64_t burst = m.dma.burst_bytes;
  if (m.dram.policy == "banked") burst = std::min<std::uint64_t>(burst, m.own<BankedConfig>().burst_bytes());
  try {
    return schedule::count_steps(job::make_job(m, p.network, schedule), burst, most);
  } catch (const config::ConfigError&) {
    return 0;
  }
}

std::optional<Sample> sample_of(const Problem& p, const job::Schedule& schedule, std::uint64_t steps) {
  const MachineConfig& m = p.machine;
  const std::uint64_t here = steps_of(p, schedule, kMostSteps * steps);
  if (here <= steps) return std::nullopt;
  const double share = static_cast<double>(steps) / static_cast<double>(here);
  if (const Gemm* g = p.network.gemm()) {
    const std::uint32_t rows = m.mac.rows * m.cores;
    if (g->fusion.down > 0) {  // rows of both products are dealt to all cores
      return smaller_product(p, *g, share, kFewestBlocks * rows * m.clusters, kFewestBetween * m.mac.columns);
    }
    std::optional<Sample> s = product_of_equal_blocks(p, *g, share);
    for (const std::uint32_t blocks : {2 * kFewestOfProduct, kFewestOfProduct}) {
      if (!s) s = smaller_product(p, *g, share, kFewestOfProduct * rows, blocks * m.mac.columns * m.clusters);
    }
    return s;
  }
  if (const RowOperation* r = p.network.rows()) {
    const std::uint32_t fewer = reduced(r->rows, share, m);
    if (fewer == 0) return std::nullopt;
    return two_sizes(p, with_rows(*r, fewer / 2), with_rows(*r, fewer), 2.0 * r->rows / fewer);
  }
  const Attention& n = p.network.attention();
  if (is_decoding(n)) return fewer_keys(p, n, share);
  if (!has_equal_units(n)) return std::nullopt;
  return smaller_attention(p, schedule, steps);
}

}  // namespace attnvp::explore
