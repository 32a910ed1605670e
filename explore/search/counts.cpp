#include "explore/search/counts.h"

#include <algorithm>

#include "firmware/runtime/tiling.h"
#include "firmware/runtime/work.h"

namespace attnvp::explore {

namespace {

constexpr std::uint64_t kHalf = 2;
constexpr std::uint64_t kPartial = 4;
constexpr std::uint64_t kSoftmaxPasses = 3;  // over a row that L0 cannot hold

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

bool is_streamed(const hal::Tiling& t) { return t.kv_buffers == hal::kKvStream; }

struct Matmul {
  std::uint64_t m, n, k;
  std::uint64_t c_bytes = kHalf;
  bool accumulate = false;
};

// Cutting A by rows into several descriptors (strips) costs more, never less: all terms are sums of rounded-up
// quotients of m.
Traffic traffic_of(const Matmul& s, const MachineConfig& machine, const hal::Tiling& t) {
  const std::uint64_t n_tiles = ceil_div(s.n, t.n0), m_tiles = ceil_div(s.m, t.m0);
  const std::uint64_t a = s.m * s.k * kHalf * n_tiles;
  const std::uint64_t b = s.n * s.k * kHalf * m_tiles;
  const std::uint64_t sums = s.m * s.n * s.k * kPartial;
  const std::uint64_t n_passes = ceil_div(s.n, machine.mac.columns), m_passes = ceil_div(s.m, machine.mac.rows);
  Traffic x;
  x.l1_read = a + b + (s.accumulate ? s.m * s.n * kPartial : 0);
  x.l1_write = s.m * s.n * s.c_bytes;
  x.l0_read = (s.m * n_passes + s.n * m_passes) * s.k * kHalf + sums + s.m * s.n * kPartial;
  x.l0_write = a + b + sums;
  x.macs = s.m * s.n * s.k;
  return x;
}

// One engine's time: one step of depth per pass and cycle; or what the L1 port moves while a descriptor executes, which
// is everything but, for each of `strips` descriptors, the first sub-tile (loaded before) and the last result (after).
std::uint64_t cycles_of(const Matmul& s, const MachineConfig& machine, const hal::Tiling& t, std::uint64_t strips) {
  const std::uint64_t pace = ceil_div(s.m, machine.mac.rows) * ceil_div(s.n, machine.mac.columns) * s.k;
  const Traffic x = traffic_of(s, machine, t);
  const std::uint64_t m0 = std::min<std::uint64_t>(t.m0, s.m), n0 = std::min<std::uint64_t>(t.n0, s.n);
  const std::uint64_t k0 = std::min<std::uint64_t>(t.k0, s.k);
  const std::uint64_t outside =
      strips * ((m0 + n0) * k0 * kHalf + m0 * n0 * (s.c_bytes + (s.accumulate ? kPartial : 0)));
  const std::uint64_t bytes = x.l1_read + x.l1_write;
  const std::uint64_t moving = bytes > outside ? (bytes - outside) / machine.l1.port_bytes_per_cycle : 0;
  return std::max(pace, moving);
}

}  // namespace

DataflowFacts::DataflowFacts(const Problem& p) {
  const job::Schedule& s = p.schedule;
  const std::string& name = s.dataflow;
  const std::uint32_t prefetch = s.options.empty() ? 0 : s.options[0],
                      overlap = s.options.size() < 2 ? 0 : s.options[1];
  const VecConfig& vec = p.machine.vec;
  const bool vec_bound = firmware::vec_bound(p.machine.mac.rows, p.machine.mac.columns,
                                             vec.lanes * 1024 / std::max(vec.softmax_lane_cycles, 1U));
  const bool two_streams = name == "flat" && prefetch == 0 && (overlap == 2 || (overlap == 0 && vec_bound));
  known = name == "layerwise" || name == "softpipe" || name == "flat" || name == "tileflow" || name == "mas";
  fused = name != "layerwise" && name != "softpipe";
  serial = name == "flat" && !two_streams;
  lock_step = serial && prefetch == 1;
  split_cores = name == "tileflow";
  ahead = name == "mas" || two_streams ? 2 : serial ? 1 : 0;
  scores = name == "layerwise" ? 4 : name == "softpipe" ? 2 : 0;
}

Traffic& Traffic::operator+=(const Traffic& o) {
  l1_read += o.l1_read;
  l1_write += o.l1_write;
  l0_read += o.l0_read;
  l0_write += o.l0_write;
  macs += o.macs;
  lane_ops += o.lane_ops;
  return *this;
}

Traffic& Traffic::operator*=(std::uint64_t n) {
  for (std::uint64_t* v : {&l1_read, &l1_write, &l0_read, &l0_write, &macs, &lane_ops}) *v *= n;
  return *this;
}

Counts::Counts(const Problem& p, const DataflowFacts& facts, const hal::Tiling& tiling) {
  hal::Tiling t = tiling;
  // As firmware does: a core takes at most kMaxTokens sub-blocks' tokens at once.
  t.nkv = std::max(t.nkv, static_cast<std::uint32_t>(ceil_div(p.network.seq_kv, hal::kMaxTokens)));
  nkv = t.nkv;
  bb_ = t.bb;
  hh_ = t.hh;
  network_ = p.network;
  groups = ceil_div(network_.batch, bb_) * ceil_div(network_.heads, hh_);
  streamed = is_streamed(t);
  first_strip = streamed || facts.lock_step ? 0 : t.m0;
  cut(p, facts, t);
  find_fill(p, t);
  count_dram(p, facts, t);
}

std::uint64_t Counts::members(std::uint64_t group) const {
  const std::uint64_t across = ceil_div(network_.heads, hh_);
  const std::uint64_t b = group / across * bb_, h = group % across * hh_;
  return std::min<std::uint64_t>(bb_, network_.batch - b) * std::min<std::uint64_t>(hh_, network_.heads - h);
}

std::uint64_t Counts::rounds(std::uint64_t group) const { return ceil_div(members(group) * blocks, lanes); }

const BlockKind* Counts::block_of(std::uint64_t group, std::uint64_t round, std::uint64_t lane) const {
  // Every group starts with another lane.
  const std::uint64_t index = round * lanes + (lane + lanes - group % lanes) % lanes;
  if (index >= members(group) * blocks) return nullptr;
  std::uint64_t block = index / members(group);
  for (const BlockKind& kind : kinds) {  // in the order of the blocks
    if (block < kind.per_head) return &kind;
    block -= kind.per_head;
  }
  return nullptr;
}

std::uint64_t Counts::sub_block_rows(std::uint64_t j) const {
  return std::min<std::uint64_t>(nkv, network_.seq_kv - j * nkv);
}

// Row blocks as firmware's Work makes them: whole units of rows, the first blocks one unit longer, the last one ragged.
void Counts::cut(const Problem& p, const DataflowFacts& facts, const hal::Tiling& t) {
  const config::Network& n = p.network;
  const MachineConfig& m = p.machine;
  const std::uint32_t per_cluster = facts.split_cores ? std::max(m.cores / 2, 1U) : m.cores;
  const std::uint32_t unit = t.nq >= m.mac.rows ? m.mac.rows : t.nq;
  heads = std::uint64_t{n.batch} * n.heads;
  lanes = std::uint64_t{per_cluster} * m.clusters;
  blocks = firmware::row_blocks(n.seq_q, t.nq, unit, t.bb * t.hh == 1 ? per_cluster : 1);
  first_members = m.clusters == 1 ? std::uint64_t{std::min(t.bb, n.batch)} * std::min(t.hh, n.heads) : 1;
  sub_blocks = ceil_div(n.seq_kv, t.nkv);

  const std::uint64_t units = ceil_div(n.seq_q, unit);
  const std::uint64_t each = units / blocks, longer = units % blocks;
  const std::uint64_t strip_units = ceil_div(ceil_div(std::min(t.nq, n.seq_q), firmware::kLastStrips), m.mac.rows);
  const std::uint64_t strip = strip_units * m.mac.rows;
  const std::uint64_t missing = units * unit - n.seq_q;  // of the very last block
  q_rows = n.seq_q;
  last_strip_rows = n.seq_q;
  least_c = least_o = UINT64_MAX;
  const auto add = [&](std::uint64_t row_units, std::uint64_t rows, std::uint64_t how_many) {
    if (how_many == 0) return;
    BlockKind kind;
    kind.rows = rows;
    kind.passes = row_units;
    kind.per_head = how_many;
    add_block(p, t, kind, strip);
  };
  add(each + 1, (each + 1) * unit, longer == blocks ? longer - 1 : longer);
  add(each, each * unit, blocks - longer - 1);
  add(each, each * unit - missing, 1);
}

void Counts::add_block(const Problem& p, const hal::Tiling& t, BlockKind kind, std::uint64_t strip) {
  const config::Network& n = p.network;
  const MachineConfig& m = p.machine;
  Traffic x;
  const std::uint64_t strips = ceil_div(kind.rows, strip);
  for (std::uint64_t j = 0; j < sub_blocks; ++j) {
    const std::uint64_t kv_rows = sub_block_rows(j);
    const Matmul c{kind.rows, kv_rows, n.emb};
    x += traffic_of(c, m, t);
    // A lane's first block is one descriptor per strip on the first sub-block.
    kind.c_cycles += cycles_of(c, m, t, j == 0 ? ceil_div(kind.rows, first_rows(kind.rows)) : 1);
    kind.c_until.push_back(kind.c_cycles);
    if (!is_streamed(t)) continue;
    const bool last = j + 1 == sub_blocks;
    const Matmul o{kind.rows, n.emb, kv_rows, last ? kHalf : kPartial, j > 0};
    x += traffic_of(o, m, t);
    kind.o_cycles += cycles_of(o, m, t, 1);
  }
  if (!is_streamed(t)) {
    const Matmul o{kind.rows, n.emb, n.seq_kv};
    x += traffic_of(o, m, t);
    kind.o_cycles += cycles_of(o, m, t, strips);
  }
  mac_l1_bytes += (x.l1_read + x.l1_write) * kind.per_head * heads;

  // A row of softmax starts on the first lane.
  kind.p_cycles = kind.rows * ceil_div(std::uint64_t{n.seq_kv} * m.vec.softmax_lane_cycles, m.vec.lanes);
  const std::uint64_t row = std::uint64_t{n.seq_kv} * kHalf;
  const bool fits = 2 * row <= m.l0.size_bytes / 2;
  x.l1_read += kind.rows * row * (fits ? 1 : kSoftmaxPasses);
  x.l1_write += kind.rows * row;
  x.l0_read += kind.rows * row * (fits ? kSoftmaxPasses : 1);
  x.l0_write += kind.rows * row * (fits ? kSoftmaxPasses : 1);
  x.lane_ops += kind.rows * n.seq_kv * m.vec.softmax_lane_cycles;

  x *= kind.per_head * heads;
  traffic += x;
  c_cycles += kind.c_cycles * kind.per_head * heads;
  o_cycles += kind.o_cycles * kind.per_head * heads;
  p_cycles += kind.p_cycles * kind.per_head * heads;
  q_rows = std::min(q_rows, kind.rows);
  last_strip_rows = std::min(last_strip_rows, kind.rows - (strips - 1) * strip);
  least_c = std::min(least_c, kind.c_cycles);
  least_o = std::min(least_o, ceil_div(n.emb, m.mac.columns) * n.seq_kv);
  kinds.push_back(std::move(kind));
}

// The smallest first sub-tile any of the matmuls has, over the engine's L1 port. Firmware evens out the depth.
void Counts::find_fill(const Problem& p, const hal::Tiling& t) {
  const config::Network& n = p.network;
  const auto depth = [&](std::uint64_t k) { return ceil_div(k, ceil_div(k, t.k0)); };
  const std::uint64_t m0 = std::min<std::uint64_t>(t.m0, last_strip_rows);
  const std::uint64_t last_kv = n.seq_kv - (sub_blocks - 1) * t.nkv;
  const std::uint64_t c = (m0 + std::min<std::uint64_t>(t.n0, last_kv)) * depth(n.emb);
  const std::uint64_t o_depth = is_streamed(t) ? std::min(depth(last_kv), depth(t.nkv)) : depth(n.seq_kv);
  const std::uint64_t o = (m0 + std::min<std::uint64_t>(t.n0, n.emb)) * o_depth;
  const std::uint64_t port = p.machine.l1.port_bytes_per_cycle;
  fill_cycles = std::min(c, o) * kHalf / port;
}

void Counts::count_dram(const Problem& p, const DataflowFacts& facts, const hal::Tiling& t) {
  const config::Network& n = p.network;
  q_bytes = heads * n.seq_q * n.emb * kHalf;
  k_bytes = heads * n.seq_kv * n.emb * kHalf;
  score_bytes = facts.scores * heads * n.seq_q * n.seq_kv * kHalf;
  kv_bytes = 2 * k_bytes;
  if (is_streamed(t)) {
    // Every row block needs all of its head's K and V; one pass over them serves at most all lanes of a cluster.
    const std::uint64_t reads = ceil_div(heads * blocks, lanes / p.machine.clusters);
    kv_bytes = std::max(kv_bytes, 2 * reads * n.seq_kv * n.emb * kHalf);
  }
  traffic.l1_write += q_bytes + kv_bytes + score_bytes / 2;
  traffic.l1_read += q_bytes + score_bytes / 2;
}

}  // namespace attnvp::explore
