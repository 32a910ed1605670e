#include "explore/tuning/sample.h"

#include <algorithm>
#include <cmath>

#include "firmware/hal/element_types.h"
#include "models/memory/banked_dram/config.h"
#include "models/memory/config.h"

namespace attnvp::explore {

namespace {

using workload::Attention;
using workload::Gemm;
using workload::RowOperation;

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
Sample two_sizes(const MachineConfig& machine, const workload::Workload& small, const workload::Workload& large,
                 double work_all) {
  return {machine, machine, small, large, 1, 2, work_all};
}

// The same job on fewer clusters, which have their share of all that clusters share.
Sample fewer_clusters(const MachineConfig& machine, const workload::Workload& network) {
  return {machine, machine, network, network, 0, 1, 1};
}

bool is_uniform(const Attention& n) {
  return !n.ragged() && n.requests.empty() && n.page == 0 && !n.mask.by_key() && n.bias != workload::Bias::kTensor;
}

// True if clusters are equal and share only the bandwidth of one DRAM.
bool has_separable_clusters(const MachineConfig& m) {
  return m.clusters > 1 && m.dram.policy == "fixed" && m.interconnect.kind == "ideal" && !m.has_l2() &&
         m.has_equal_clusters();
}

// Equal units of work: heads of K and V of every batch, with all their queries.
std::uint64_t units_of(const Attention& n) { return std::uint64_t{n.batch} * n.heads_of_kv(); }

Attention with_units(Attention n, std::uint64_t units) {
  const std::uint32_t group = n.heads / n.heads_of_kv();
  std::uint32_t heads = n.heads_of_kv();
  if (units <= heads) {
    n.batch = 1;
    heads = static_cast<std::uint32_t>(units);
  } else {
    n.batch = static_cast<std::uint32_t>((units + heads - 1) / heads);
  }
  n.heads = heads * group;
  if (n.kv_heads > 0) n.kv_heads = heads;
  return n;
}

// The middle rows, which attend to the average number of keys.
Attention with_rows(Attention n, std::uint32_t rows) {
  if (n.mask.by_place()) {
    const std::uint32_t before = (n.seq_q - rows) / 2, after = n.seq_q - rows - before;
    n.mask.history += before;
    if (n.mask.causal != 0) n.seq_kv -= after;
  }
  n.mask.queries = rows;
  n.seq_q = rows;
  return n;
}

// Keeps rows and heads and reduces keys; requests keep their new tokens.
Attention with_keys(Attention n, double share) {
  const auto shorter = [share](std::uint32_t tokens) {
    return std::max(static_cast<std::uint32_t>(std::llround(tokens * share)), 1U);
  };
  for (workload::Request& r : n.requests) {
    r.cached_tokens = r.cached_tokens == 0 ? 0 : shorter(r.cached_tokens);
    if (!r.pages.empty()) r.pages.resize((r.tokens() + n.page - 1) / n.page);
  }
  for (std::size_t b = 0; b < n.contexts.size(); ++b) {
    n.contexts[b] = n.requests.empty() ? shorter(n.contexts[b]) : n.requests[b].tokens();
  }
  if (n.ragged()) {
    n.seq_kv = *std::max_element(n.contexts.begin(), n.contexts.end());
  } else {
    const std::uint32_t less = n.seq_kv - std::max(shorter(n.seq_kv), n.seq_kv - n.mask.history);
    const std::uint32_t cut = n.mask.by_place() ? less : n.seq_kv - shorter(n.seq_kv);
    n.seq_kv -= cut;
    if (n.mask.by_place()) n.mask.history -= cut;
  }
  return n;
}

double keys_of(const Attention& n) {
  double keys = n.ragged() ? 0 : 1.0 * n.batch * n.seq_kv;
  for (const std::uint32_t context : n.contexts) keys += context;
  return keys;
}

// A few new tokens with many cached ones: work is proportional to the keys.
bool is_decoding(const Attention& n) {
  const bool few = std::all_of(n.requests.begin(), n.requests.end(),
                               [](const workload::Request& r) { return 4 * r.new_tokens <= r.cached_tokens; });
  return !n.mask.by_key() && n.mask.window == 0 && n.bias != workload::Bias::kTensor &&
         (n.requests.empty() ? 4 * n.seq_q <= n.seq_kv : few);
}

// Reduces keys to about the wanted number of events, but keeps a tile for every core.
std::optional<Sample> fewer_keys(const MachineConfig& machine, const Attention& n, double share) {
  const double least = kFewestBlocks * machine.mac.columns * machine.clusters * machine.cores;
  share = std::max(share, least / (keys_of(n) * n.heads_of_kv()));
  if (share > 0.5) return std::nullopt;
  const Attention large = with_keys(n, share);
  return two_sizes(machine, with_keys(n, share / 2), large, 2 * keys_of(n) / keys_of(large));
}

std::uint32_t rounded_up(double value, std::uint32_t grain) {
  return static_cast<std::uint32_t>(std::ceil(value / grain)) * grain;
}

// A product with other columns, of whole pairs and heads, and the same share of rotated ones.
Gemm with_columns(Gemm g, std::uint32_t columns) {
  workload::Fusion& f = g.fusion;
  workload::CacheAppend& c = f.append;
  const std::uint32_t least = c.any() ? 2 * c.elements : 0;  // a head of K, and one of V
  const std::uint32_t grain = c.any() ? c.elements : f.is_gated ? 2 : f.rotated > 0 ? f.head : 1;
  const double share = 1.0 * f.rotated / g.columns, cached = 2.0 * c.heads * c.elements / g.columns;
  g.columns = std::max({columns / grain * grain, grain, least});
  if (f.rotated > 0) f.rotated = std::clamp(rounded_up(share * g.columns, grain), grain, g.columns);
  if (c.any()) c.heads = std::max(static_cast<std::uint32_t>(cached * g.columns) / least, 1U);
  return g;
}

// With other rows: as many tokens of a sequence, or all of one.
Gemm with_rows(Gemm g, std::uint32_t rows) {
  workload::CacheAppend& c = g.fusion.append;
  if (c.any()) {
    const std::uint32_t tokens = g.rows / c.sequences;
    c.sequences = rows % tokens == 0 ? rows / tokens : 1;
    c.context = std::max(c.context, rows / c.sequences);
  }
  g.rows = rows;
  return g;
}

// A product with fewer rows, and with fewer columns if rows do not suffice. If it reduces columns, the smaller size has
// half of them.
std::optional<Sample> smaller_product(const MachineConfig& m, const Gemm& g, double share, std::uint32_t least_rows,
                                      std::uint32_t least_columns) {
  Gemm large = with_rows(g, std::min(g.rows, std::max(rounded_up(g.rows * share, least_rows), least_rows)));
  const double left = share * g.rows / large.rows;
  large =
      with_columns(large, std::min(g.columns, std::max(rounded_up(g.columns * left, least_columns), least_columns)));
  const Gemm small =
      large.columns < g.columns ? with_columns(large, large.columns / 2) : with_rows(large, large.rows / 2);
  const double work_all = 2.0 * g.rows / large.rows * g.columns / large.columns;
  return work_all >= 4 ? std::optional<Sample>(two_sizes(m, small, large, work_all)) : std::nullopt;
}

// Bytes of a product in DRAM: A; B with its scales, and the result with the residual.
double bytes_of_a(const Gemm& g) { return 1.0 * g.rows * g.depth * hal::element_bytes(g.type); }
double bytes_of_others(const Gemm& g) {
  return static_cast<double>(g.weight_bytes()) +
         1.0 * g.rows * g.result_columns() * (g.fusion.has_residual ? 2 : 1) * hal::element_bytes(g.type);
}
double bytes_of(const Gemm& g) { return bytes_of_a(g) + bytes_of_others(g); }

// `parts` times fewer clusters with their share of the columns and of the bandwidth: every cluster has as many blocks
// as in the whole product, also in the last round of an uneven distribution. The memory needs as long as for the whole
// product's operands.
Sample product_on_fewer_clusters(const MachineConfig& m, const Gemm& g, std::uint32_t parts) {
  Sample s = fewer_clusters(m, with_columns(g, g.columns / parts));
  s.machine.clusters /= parts;
  double part = 1.0 / parts;
  if (m.dram.policy == "cached") {
    auto& cache = s.machine.own<CacheConfig>();
    const double a = bytes_of_a(g), others = bytes_of_others(g), bytes = static_cast<double>(cache.size_bytes);
    cache.bytes_per_second /= parts;
    cache.size_bytes = static_cast<std::uint64_t>(bytes > a ? a + (bytes - a) / parts : bytes / parts);
    part = (a + others / parts) / (a + others);
  }
  s.machine.dram.bytes_per_second *= part;
  return s;
}

// The product of a sample with less depth. The cache shrinks as the operands do.
Sample shallower(const Sample& s) {
  const Gemm g = *s.large.gemm();
  const auto with_depth = [&](std::uint32_t depth) {
    Gemm part = g;
    part.depth = depth;
    return part;
  };
  Sample parts = two_sizes(s.machine, with_depth(kShallow / 2), with_depth(kShallow), 2.0 * g.depth / kShallow);
  const auto shrink_cache = [&](MachineConfig& machine, const Gemm& part) {
    std::uint64_t& bytes = machine.own<CacheConfig>().size_bytes;
    bytes = static_cast<std::uint64_t>(static_cast<double>(bytes) * bytes_of(part) / bytes_of(g));
  };
  shrink_cache(parts.machine, *parts.large.gemm());
  shrink_cache(parts.machine_of_small, *parts.small.gemm());
  parts.has_two_machines = true;
  parts.repeated = kRepeatedOfDepth;
  return parts;
}

// Fewer clusters and, behind a cache, less depth.
std::optional<Sample> product_of_equal_blocks(const MachineConfig& m, const Gemm& g, double share) {
  const bool is_cached = m.dram.policy == "cached";
  if (m.interconnect.kind != "ideal" || m.has_l2() || (!is_cached && m.dram.policy != "fixed")) return std::nullopt;
  const std::uint32_t least_columns = is_cached ? kFewestColumns : 1;
  std::uint32_t parts = 1;
  for (std::uint32_t d = 2; m.has_equal_clusters() && d <= m.clusters && parts * share < 1; ++d) {
    if (m.clusters % d == 0 && g.columns % (d * m.mac.columns) == 0 && g.columns / d >= least_columns) parts = d;
  }
  if (is_cached && g.depth >= 4 * kShallow) return shallower(product_on_fewer_clusters(m, g, parts));
  if (parts * share < kEnoughOfProduct) return std::nullopt;
  return product_on_fewer_clusters(m, g, parts);
}

// Extent for about the wanted number of events; 0 if it is too short to be reduced.
std::uint32_t reduced(std::uint32_t extent, double share, std::uint32_t array, std::uint32_t cores) {
  const std::uint32_t least = kFewestBlocks * array * cores;
  const std::uint32_t some = std::max(rounded_up(extent * share, 2 * array * cores), least);
  return some * 2 <= extent ? some : 0;
}

std::optional<Sample> fewer_rows(const MachineConfig& m, const RowOperation& r, double share) {
  const std::uint32_t rows = reduced(r.rows, share, m.mac.rows, m.cores);
  if (rows == 0) return std::nullopt;
  RowOperation large = r, small = r;
  large.rows = rows;
  small.rows = rows / 2;
  return two_sizes(m, small, large, 2.0 * r.rows / rows);
}

// Fewer clusters with their share of the bandwidth, then fewer heads, then fewer rows.
std::optional<Sample> smaller_attention(const MachineConfig& machine, const Attention& network, std::uint64_t steps,
                                        const StepCount& count) {
  MachineConfig m = machine;
  Attention n = network;
  std::uint64_t units = units_of(n);
  // One cluster if all clusters have equal shares of the heads.
  if (has_separable_clusters(machine) && units % machine.clusters == 0) {
    m.clusters = 1;
    m.dram.bytes_per_second /= machine.clusters;
    units /= machine.clusters;
    n = with_units(n, units);
  }
  std::optional<Sample> s;
  // At least one head per core, because some dataflows assign whole heads to cores.
  const std::uint64_t round = std::uint64_t{m.clusters} * m.cores, one_round = std::min(units, round);
  Attention large = n;
  if (units >= 3 * round) {
    large = with_units(n, 2 * round);
    s = two_sizes(m, with_units(n, round), large, static_cast<double>(units) / static_cast<double>(round));
  }
  const double share = static_cast<double>(steps) / static_cast<double>(count(m, large));
  const bool keeps_rows = n.mask.by_place() && n.mask.history + n.seq_q != n.seq_kv;
  const std::uint32_t rows = keeps_rows || share >= 1 ? 0 : reduced(n.seq_q, share, m.mac.rows, m.cores);
  if (rows > 0) {  // one round of heads, with all of its rows and with half of them
    const Attention one = with_units(n, one_round);
    const double all_rounds = static_cast<double>(units) / static_cast<double>(one_round);
    return two_sizes(m, with_rows(one, rows / 2), with_rows(one, rows), 2.0 * all_rounds * n.seq_q / rows);
  }
  if (!s && m.clusters != machine.clusters) s = fewer_clusters(m, n);
  return s;
}

}  // namespace

std::uint64_t burst_bytes(const MachineConfig& m) {
  if (m.dram.policy != "banked") return m.dma.burst_bytes;
  return std::min<std::uint64_t>(m.dma.burst_bytes, m.own<BankedConfig>().burst_bytes());
}

std::optional<Sample> sample_of(const MachineConfig& m, const workload::Workload& w, std::uint64_t steps,
                                const StepCount& count) {
  const std::uint64_t here = count(m, w);
  if (here <= steps) return std::nullopt;
  const double share = static_cast<double>(steps) / static_cast<double>(here);
  if (const Gemm* g = w.gemm()) {
    if (g->fusion.down > 0) {  // rows of both products are dealt to all cores
      return smaller_product(m, *g, share, kFewestBlocks * m.mac.rows * m.cores * m.clusters,
                             kFewestBetween * m.mac.columns);
    }
    std::optional<Sample> s = product_of_equal_blocks(m, *g, share);
    for (const std::uint32_t blocks : {2 * kFewestOfProduct, kFewestOfProduct}) {
      if (s) break;
      s = smaller_product(m, *g, share, kFewestOfProduct * m.mac.rows * m.cores, blocks * m.mac.columns * m.clusters);
    }
    return s;
  }
  if (const RowOperation* r = w.rows()) return fewer_rows(m, *r, share);
  const Attention& n = w.attention();
  if (is_decoding(n)) return fewer_keys(m, n, share);
  if (!is_uniform(n)) return std::nullopt;
  return smaller_attention(m, n, steps, count);
}

}  // namespace attnvp::explore
