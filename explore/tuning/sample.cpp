#include "explore/tuning/sample.h"

#include <algorithm>
#include <cmath>

#include "models/banked_dram/config.h"

namespace attnvp::explore {

namespace {

using config::Network;
using config::Step;

// Of the array's rows or columns, that each core keeps: of attention, and of a product, whose tiles are cut both ways.
constexpr std::uint32_t kFewestBlocks = 4, kFewestOfProduct = 16;

bool is_uniform(const Network& n) {
  return !n.ragged() && n.requests.empty() && n.page == 0 && !n.mask.by_key() && n.bias != config::Bias::kTensor;
}

// Clusters that share nothing but the bandwidth of one DRAM.
bool has_separable_clusters(const MachineConfig& m) {
  return m.clusters > 1 && m.dram.policy == "fixed" && m.interconnect.kind == "ideal" && !m.has_l2();
}

// Units of work that are alike: heads of K and V of every batch, with all their queries.
std::uint64_t units_of(const Network& n) { return std::uint64_t{n.batch} * n.heads_of_kv(); }

Network with_units(Network n, std::uint64_t units) {
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

// The middle rows, which see as many keys as rows do on average.
Network with_rows(Network n, std::uint32_t rows) {
  if (n.mask.by_place()) {
    const std::uint32_t before = (n.seq_q - rows) / 2, after = n.seq_q - rows - before;
    n.mask.history += before;
    if (n.mask.causal != 0) n.seq_kv -= after;
  }
  if (n.step == Step::kAttention) n.mask.queries = rows;
  n.seq_q = rows;
  return n;
}

// As many rows and heads, fewer keys; requests keep their new tokens.
Network with_keys(Network n, double share) {
  const auto shorter = [share](std::uint32_t tokens) {
    return std::max(static_cast<std::uint32_t>(std::llround(tokens * share)), 1U);
  };
  for (config::Request& r : n.requests) {
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

double keys_of(const Network& n) {
  double keys = n.ragged() ? 0 : 1.0 * n.batch * n.seq_kv;
  for (const std::uint32_t context : n.contexts) keys += context;
  return keys;
}

// A few new tokens against many in the cache: work grows with the keys.
bool is_decoding(const Network& n) {
  const bool few = std::all_of(n.requests.begin(), n.requests.end(),
                               [](const config::Request& r) { return 4 * r.new_tokens <= r.cached_tokens; });
  return n.step == Step::kAttention && !n.mask.by_key() && n.mask.window == 0 && n.bias != config::Bias::kTensor &&
         (n.requests.empty() ? 4 * n.seq_q <= n.seq_kv : few);
}

// Keys so few that the steps are about so many, but a tile of them for every core.
std::optional<Sample> fewer_keys(const MachineConfig& machine, const Network& n, double share) {
  const double least = kFewestBlocks * machine.mac.columns * machine.clusters * machine.cores;
  share = std::max(share, least / (keys_of(n) * n.heads_of_kv()));
  if (share > 0.5) return std::nullopt;
  Sample s;
  s.machine = machine;
  s.large = with_keys(n, share);
  s.small = with_keys(n, share / 2);
  s.work_all = 2 * keys_of(n) / keys_of(s.large);
  return s;
}

std::uint32_t rounded_up(double value, std::uint32_t grain) {
  return static_cast<std::uint32_t>(std::ceil(value / grain)) * grain;
}

// A product of fewer rows and columns, at least so many `blocks` of columns for each cluster.
std::optional<Sample> smaller_product(const MachineConfig& m, const Network& n, double share, std::uint32_t blocks) {
  const std::uint32_t least_rows = kFewestOfProduct * m.mac.rows * m.cores;
  const std::uint32_t least_columns = blocks * m.mac.columns * m.clusters;
  Sample s;
  s.machine = m;
  s.large = n;
  s.large.seq_q = std::min(n.seq_q, std::max(rounded_up(n.seq_q * share, least_rows), least_rows));
  const double left = share * n.seq_q / s.large.seq_q;
  s.large.seq_kv = std::min(n.seq_kv, std::max(rounded_up(n.seq_kv * left, least_columns), least_columns));
  s.small = s.large;
  (s.large.seq_kv < n.seq_kv ? s.small.seq_kv : s.small.seq_q) /= 2;
  s.work_all = 2.0 * n.seq_q / s.large.seq_q * n.seq_kv / s.large.seq_kv;
  return s.work_all >= 4 ? std::optional<Sample>(s) : std::nullopt;
}

// The extent that is reduced so that the steps are about so many; 0: it is too short for that.
std::uint32_t reduced(std::uint32_t extent, double share, std::uint32_t array, std::uint32_t cores) {
  const std::uint32_t least = kFewestBlocks * array * cores;
  const std::uint32_t some = std::max(rounded_up(extent * share, 2 * array * cores), least);
  return some * 2 <= extent ? some : 0;
}

}  // namespace

std::uint64_t burst_bytes(const MachineConfig& m) {
  if (m.dram.policy != "banked") return m.dma.burst_bytes;
  return std::min<std::uint64_t>(m.dma.burst_bytes, m.own<BankedConfig>().burst_bytes());
}

std::optional<Sample> sample_of(const MachineConfig& machine, const Network& network, std::uint64_t steps,
                                const StepCount& count) {
  const std::uint64_t most = 64 * steps;  // how far steps are counted
  std::uint64_t here = count(machine, network, most);
  if (here <= steps) return std::nullopt;
  if (is_decoding(network)) {
    return fewer_keys(machine, network, static_cast<double>(steps) / static_cast<double>(here));
  }
  if (!is_uniform(network)) return std::nullopt;
  if (network.step == Step::kGemm) {
    const double share = static_cast<double>(steps) / static_cast<double>(here);
    const std::optional<Sample> s = smaller_product(machine, network, share, 2 * kFewestOfProduct);
    return s ? s : smaller_product(machine, network, share, kFewestOfProduct);
  }
  Sample s;
  s.machine = machine;
  s.small = s.large = network;
  Network n = network;
  std::uint64_t units = units_of(n);
  // Clusters that have equal shares of the heads.
  if (has_separable_clusters(machine) && units % machine.clusters == 0 && n.step == Step::kAttention) {
    s.machine.clusters = 1;
    s.machine.dram.bytes_per_second /= machine.clusters;
    units /= machine.clusters;
    n = with_units(n, units);
    here = count(s.machine, n, most);
  }
  bool is_smaller = false;
  // As many heads as cores, as some dataflows give each core heads of its own.
  const std::uint64_t round = std::uint64_t{s.machine.clusters} * s.machine.cores, rounds = units / round;
  if (n.step == Step::kAttention && rounds >= 3) {
    s.work_all = static_cast<double>(units) / static_cast<double>(round);
    s.small = with_units(n, round);
    s.large = with_units(n, 2 * round);
    is_smaller = true;
    here = count(s.machine, s.large, most);
  }
  if (here > steps) {
    const Network& base = is_smaller ? s.large : n;
    const double share = static_cast<double>(steps) / static_cast<double>(here);
    const std::uint32_t rows = base.mask.by_place() && base.mask.history + base.seq_q != base.seq_kv
                                   ? 0
                                   : reduced(base.seq_q, share, machine.mac.rows, machine.cores);
    if (rows > 0) {
      // One round of heads, all of its rows and half of them.
      Network one = n.step == Step::kAttention ? with_units(n, std::min(units, round)) : n;
      const double all_rounds = static_cast<double>(units) / static_cast<double>(std::min(units, round));
      s.work_all = 2.0 * all_rounds * network.seq_q / rows;
      s.large = with_rows(one, rows);
      s.small = with_rows(one, rows / 2);
      is_smaller = true;
    }
  }
  if (s.machine.clusters != machine.clusters && !is_smaller) {  // one cluster's share, as it is
    s.small = s.large = n;
    s.work_small = 0, s.work_large = s.work_all = 1;
    is_smaller = true;
  }
  return is_smaller ? std::optional<Sample>(s) : std::nullopt;
}

}  // namespace attnvp::explore
