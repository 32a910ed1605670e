#include "firmware/runtime/tiling.h"

#include "firmware/runtime/kv_buffer.h"
#include "firmware/runtime/work.h"

namespace attnvp::firmware {

namespace {

using hal::Tiling;

constexpr uint32_t kRowBuffers = 4;
constexpr uint32_t kSubBlocks = 32;  // of a long sequence
// Cycles of latencies that a round shows where operators follow each other, and where they overlap.
constexpr uint64_t kSerialRound = 180;
constexpr uint64_t kOverlappedRound = 40;

uint32_t lanes_of(const Runtime& rt, const Demand& demand) { return demand.lanes > 0 ? demand.lanes : rt.cores(); }

uint64_t kv_rows(const Runtime& rt, const Tiling& t) {
  return t.kv_buffers == hal::kKvStream ? uint64_t{KvBuffer::kStreamSlots} * t.nkv
                                        : uint64_t{t.kv_buffers} * rt.layer().seq_kv;
}

// Cycles the cluster needs at least with this tiling, for comparing tilings with each other.
uint64_t estimate(const Runtime& rt, const Tiling& t, const Demand& demand) {
  const hal::MachineInfo& m = rt.machine();
  const hal::Layer& l = rt.layer();
  const uint32_t workers = m.cores * m.clusters;
  const uint64_t heads = uint64_t{l.batch} * l.heads;
  const uint32_t unit = t.nq >= m.mac_rows ? m.mac_rows : t.nq;
  const uint64_t blocks = row_blocks(l.seq_q, t.nq, unit, t.bb * t.hh == 1 ? m.cores : 1);
  const uint64_t passes = ceil_div(l.seq_q, unit);
  const uint64_t rounds = ceil_div(heads * blocks, workers);
  const uint64_t per_pass = ceil_div(l.seq_kv, m.mac_columns) * l.emb + ceil_div(l.emb, m.mac_columns) * l.seq_kv;
  // Uneven blocks take turns on the cores; what does not come out even shows once.
  const uint64_t block_passes = ceil_div(passes, blocks);
  const uint64_t uneven = heads * blocks % workers == 0 ? 0 : block_passes;
  const uint64_t mac = (ceil_div(heads * passes, workers) + uneven) * per_pass;
  const uint64_t vec =
      (ceil_div(heads * l.seq_q, workers) + uneven * unit) * l.seq_kv * 1024 / max(m.softmax_rate_1024, 1U);

  const uint64_t kv = 2 * uint64_t{l.seq_kv} * l.emb * kHalfBytes;
  const uint64_t kv_reads = t.kv_buffers == hal::kKvStream ? ceil_div(heads * blocks, m.cores) : heads;
  const uint64_t qo = 2 * heads * l.seq_q * l.emb * kHalfBytes;
  const uint64_t scores = demand.dram_scores * heads * l.seq_q * l.seq_kv * kHalfBytes;
  const auto cycles = [&](uint64_t bytes) { return bytes * 1024 / max(m.dram_rate_1024, 1U); };
  const uint64_t dram = cycles(kv_reads * kv + qo + scores);
  // What nothing can hide: loads that come before there is enough to compute, and the last rows of O. Until V is there,
  // only C of `ahead` rounds (and P, where that comes next) can be computed.
  const uint64_t rows = ceil_div(l.seq_q, blocks);
  const uint64_t q_rows = cycles(uint64_t{m.cores} * rows * l.emb * kHalfBytes);
  const uint64_t ahead = demand.score_blocks;
  const uint64_t first_loads = ahead * q_rows + cycles(kv);
  const uint64_t first_c = ahead * ceil_div(passes, blocks) * ceil_div(l.seq_kv, m.mac_columns) * l.emb;
  const uint64_t first_p = rows * l.seq_kv * 1024 / max(m.softmax_rate_1024, 1U);
  const uint64_t first_work = first_c + (demand.mac_vec_overlap ? 0 : first_p);
  const uint64_t start = max(first_loads > first_work ? first_loads - first_work : 0,
                             q_rows + cycles(uint64_t{t.nkv} * l.emb * kHalfBytes));
  // Without a second buffer for the next group's K and V their loads show.
  const uint64_t edges = start + q_rows / kLastStrips + (t.kv_buffers == 1 ? heads * cycles(kv) / 2 : 0);
  if (!demand.dram_overlap) return mac + vec + dram + rounds * 2 * kSerialRound;
  const uint64_t compute =
      demand.mac_vec_overlap ? max(mac, vec) + rounds * kOverlappedRound : mac + vec + rounds * kSerialRound;
  return max(compute, dram) + edges;
}

bool check_given(Runtime& rt, const Tiling& t) {
  const hal::Layer& l = rt.layer();
  const uint32_t given[] = {t.bb, t.hh, t.nq, t.nkv, t.np};
  const uint32_t most[] = {l.batch, l.heads, l.seq_q, l.seq_kv, l.seq_q};
  for (uint32_t i = 0; i < 5; ++i) {
    if (given[i] <= most[i]) continue;
    rt.fail(Status::kBadTiling, i, given[i]);
    return false;
  }
  return true;
}

}  // namespace

// L0 sub-tile: two passes of the array in each direction where L0 has the room, so that an operand word is used twice
// as often; depth in steps that let the first sub-tile arrive early.
void choose_l0(Runtime& rt, Tiling& t) {
  const hal::MachineInfo& m = rt.machine();
  const uint64_t room = m.l0_bytes / 2;  // the MAC engine's half
  const auto need = [](uint64_t m0, uint64_t n0, uint64_t k0) {
    return 2 * (m0 + n0) * k0 * kHalfBytes + m0 * n0 * kPartialBytes;
  };
  const bool free_m = t.m0 == 0, free_n = t.n0 == 0, free_k = t.k0 == 0;
  for (uint32_t scale = 2; scale >= 1; --scale) {
    if (free_m) t.m0 = scale * m.mac_rows;
    if (free_n) t.n0 = scale * m.mac_columns;
    for (uint32_t k0 = 64; k0 >= 1; k0 /= 2) {
      if (free_k) t.k0 = k0;
      if (need(t.m0, t.n0, t.k0) <= room) return;
      if (!free_k) break;
    }
  }
  rt.fail(Status::kL0TooSmall, 2 * need(t.m0, t.n0, t.k0), m.l0_bytes);
}

uint64_t l1_need(const Runtime& rt, const Tiling& t, const Demand& demand) {
  const hal::Layer& l = rt.layer();
  const auto aligned = [](uint64_t bytes) { return round_up(bytes, 64); };
  const uint64_t rows = min(t.nq, l.seq_q);
  const uint64_t row_bytes = uint64_t{l.emb} * kHalfBytes;
  const uint64_t kv = demand.kv_tensors * aligned(kv_rows(rt, t) * t.bb * t.hh * row_bytes);
  uint64_t core = demand.score_blocks * aligned(rows * l.seq_kv * kHalfBytes);
  core += aligned(uint64_t{t.row_buffers} * rows * row_bytes) + aligned(uint64_t{o_buffers(t)} * rows * row_bytes);
  if (t.kv_buffers == hal::kKvStream) core += aligned(rows * l.emb * kPartialBytes);
  return kv + lanes_of(rt, demand) * core;
}

bool begin_tiling(Runtime& rt, Tiling& t) {
  if (check_given(rt, t)) choose_l0(rt, t);
  return rt.ok();
}

uint32_t heads_together(const Runtime& rt) {
  const auto passes = static_cast<uint32_t>(ceil_div(rt.layer().seq_q, rt.machine().mac_rows));
  return min(rt.layer().heads, static_cast<uint32_t>(ceil_div(rt.cores(), min(passes, rt.cores()))));
}

Choice find_tiling(Runtime& rt, const Demand& demand) {
  const hal::Layer& l = rt.layer();
  const uint32_t unit = rt.machine().mac_rows;
  Tiling t = rt.job().tiling;
  t.np = 0;
  if (demand.single_kv) {
    t.bb = t.hh = t.kv_buffers = t.row_buffers = 1;
    t.nkv = l.seq_kv;
  }
  if (!begin_tiling(rt, t)) return {};

  // Enough heads at a time that every core has a row block.
  if (t.bb == 0) t.bb = 1;
  if (t.hh == 0) {
    const auto passes = static_cast<uint32_t>(ceil_div(l.seq_q, unit));
    t.hh = heads_together(rt);
    // In lock-step all cores wait for the longest block of a round: give them equal blocks, of different heads.
    if (!demand.dram_overlap && passes % rt.cores() != 0 && l.heads % rt.cores() == 0) t.hh = rt.cores();
  }
  if (t.nkv == 0) {
    // About an eighth of the rows, in whole L0 sub-tiles.
    const uint32_t eighth = (l.seq_kv / 8 + t.n0 / 2) / t.n0 * t.n0;
    t.nkv = min(l.seq_kv, max(min(eighth, 512U), max(32U, rt.machine().mac_columns)));
    // Of a long sequence no more sub-blocks than queues hold, as far as their buffers take little of L1.
    const uint64_t little = rt.machine().l1_bytes / 8 / (2 * uint64_t{KvBuffer::kStreamSlots} * l.emb * kHalfBytes);
    const auto few = static_cast<uint32_t>(min(round_up(ceil_div(l.seq_kv, kSubBlocks), t.n0), little / t.n0 * t.n0));
    t.nkv = max(t.nkv, few);
  }
  // A core takes at most kMaxTokens sub-blocks' tokens at once.
  const auto min_nkv = static_cast<uint32_t>(ceil_div(l.seq_kv, hal::kMaxTokens));
  t.nkv = max(t.nkv, min_nkv);

  Tiling given = t;
  Tiling best{};
  uint64_t best_cycles = UINT64_MAX;
  uint64_t least_need = UINT64_MAX;
  const auto consider = [&](uint32_t nq, uint32_t mode) {
    if (given.kv_buffers != hal::kKvAuto && given.kv_buffers != mode) return;
    if (given.nq != 0 && given.nq != nq) return;
    Tiling c = given;
    c.nq = nq;
    c.kv_buffers = mode;
    if (given.row_buffers == 0) c.row_buffers = kRowBuffers;
    // Stores may lag behind while loads are more urgent, where there is room for that.
    while (given.row_buffers == 0 && c.row_buffers > 1 && l1_need(rt, c, demand) > rt.machine().l1_bytes) {
      c.row_buffers /= 2;
    }
    const uint64_t need = l1_need(rt, c, demand);
    least_need = min(least_need, need);
    if (need > rt.machine().l1_bytes) return;
    const uint64_t cycles = estimate(rt, c, demand);
    if (cycles >= best_cycles) return;
    best_cycles = cycles;
    best = c;
  };
  // Row blocks of whole array passes, K and V read once; only where that does not fit, smaller blocks or streaming.
  const auto whole_passes = [&](uint32_t mode) {
    if (demand.row_blocks > 0) {
      consider(static_cast<uint32_t>(min<uint64_t>(round_up(ceil_div(l.seq_q, demand.row_blocks), unit), l.seq_q)),
               mode);
      if (best_cycles != UINT64_MAX) return;
    }
    for (uint32_t nq = unit; nq < l.seq_q + unit && nq <= 32 * unit; nq += nq < 4 * unit ? unit : 4 * unit) {
      consider(min(nq, l.seq_q), mode);
    }
    if (given.nq != 0) consider(given.nq, mode);
  };
  for (uint32_t buffers = 2; buffers >= 1; --buffers) whole_passes(buffers);
  if (given.kv_buffers != hal::kKvAuto && given.kv_buffers != hal::kKvStream) whole_passes(given.kv_buffers);
  // Less than a pass: powers of two, and sixteenths of a large array's rows.
  const auto part_passes = [&](uint32_t mode) {
    for (uint32_t nq = 1; nq < min(unit, l.seq_q); nq *= 2) consider(nq, mode);
    for (uint32_t nq = unit / 16; unit >= 64 && nq < min(unit, l.seq_q); nq += unit / 16) consider(nq, mode);
  };
  if (best_cycles == UINT64_MAX) part_passes(1);
  // Streaming: sub-blocks as long as they fit.
  const uint64_t resident = best_cycles;
  const bool nkv_free = rt.job().tiling.nkv == 0 && !demand.single_kv;
  for (bool again = best_cycles == UINT64_MAX || best.nq < unit; again;) {
    whole_passes(hal::kKvStream);
    part_passes(hal::kKvStream);
    again = best_cycles == resident && nkv_free && given.nkv / 2 >= min_nkv;
    if (again) given.nkv /= 2;
  }
  return {best_cycles != UINT64_MAX, best, least_need, best_cycles};
}

Tiling choose_tiling(Runtime& rt, const Demand& demand) {
  const Choice choice = find_tiling(rt, demand);
  if (!choice.fits) rt.fail(Status::kL1TooSmall, choice.least_need, rt.machine().l1_bytes);
  return choice.tiling;
}

}  // namespace attnvp::firmware
