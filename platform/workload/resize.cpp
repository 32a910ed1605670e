#include "platform/workload/resize.h"

#include <algorithm>
#include <cmath>

namespace attnvp::workload {

std::uint32_t rounded_up(double value, std::uint32_t grain) {
  return static_cast<std::uint32_t>(std::ceil(value / grain)) * grain;
}

std::uint64_t units_of(const Attention& n) { return std::uint64_t{n.batch} * n.heads_of_kv(); }

bool has_equal_units(const Attention& n) {
  return !n.ragged() && n.requests.empty() && n.page == 0 && !n.mask.by_key() && n.bias != Bias::kTensor;
}

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

bool is_decoding(const Attention& n) {
  const bool few = std::all_of(n.requests.begin(), n.requests.end(),
                               [](const Request& r) { return 4 * r.new_tokens <= r.cached_tokens; });
  return !n.mask.by_key() && n.mask.window == 0 && n.bias != Bias::kTensor &&
         (n.requests.empty() ? 4 * n.seq_q <= n.seq_kv : few);
}

double keys_of(const Attention& n) {
  double keys = n.ragged() ? 0 : 1.0 * n.batch * n.seq_kv;
  for (const std::uint32_t context : n.contexts) keys += context;
  return keys;
}

Attention with_keys(Attention n, double share) {
  const auto shorter = [share](std::uint32_t tokens) {
    return std::max(static_cast<std::uint32_t>(std::llround(tokens * share)), 1U);
  };
  for (Request& r : n.requests) {
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

Gemm with_columns(Gemm g, std::uint32_t columns) {
  Fusion& f = g.fusion;
  CacheAppend& c = f.append;
  const std::uint32_t least = c.any() ? 2 * c.elements : 0;  // a head of K, and one of V
  const std::uint32_t grain = c.any() ? c.elements : f.is_gated ? 2 : f.rotated > 0 ? f.head : 1;
  const double share = 1.0 * f.rotated / g.columns, cached = 2.0 * c.heads * c.elements / g.columns;
  g.columns = std::max({columns / grain * grain, grain, least});
  if (f.rotated > 0) f.rotated = std::clamp(rounded_up(share * g.columns, grain), grain, g.columns);
  if (c.any()) c.heads = std::max(static_cast<std::uint32_t>(cached * g.columns) / least, 1U);
  return g;
}

Gemm with_rows(Gemm g, std::uint32_t rows) {
  CacheAppend& c = g.fusion.append;
  if (c.any()) {
    const std::uint32_t tokens = g.rows / c.sequences;
    c.sequences = rows % tokens == 0 ? rows / tokens : 1;
    c.context = std::max(c.context, rows / c.sequences);
  }
  g.rows = rows;
  return g;
}

Gemm with_depth(Gemm g, std::uint32_t depth) {
  g.depth = depth;
  return g;
}

RowOperation with_rows(RowOperation r, std::uint32_t rows) {
  r.rows = rows;
  return r;
}

}  // namespace attnvp::workload
