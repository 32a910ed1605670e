// Tile sizes of ScoreTiles: where L1 has the room for K (or V), that and tiles of one array's rows, as wide as they
// fit; otherwise higher tiles too, as K and V come anew for each row block.
#include "firmware/runtime/score_tiles.h"

namespace attnvp::firmware {

namespace {

using hal::Tiling;

constexpr uint32_t kSoftmaxBlocks = 3;  // one being loaded, one computed, one stored
constexpr uint64_t kTileCycles = 200;   // of a tile's first operands and last results, which the array waits for

uint64_t aligned(uint64_t bytes) { return round_up(bytes, 64); }
uint64_t row_bytes(const Runtime& rt) { return uint64_t{rt.layer().emb} * kHalfBytes; }
uint64_t members(const Tiling& t) { return uint64_t{t.bb} * t.hh; }
bool streamed(const Tiling& t) { return t.kv_buffers == hal::kKvStream; }

uint64_t softmax_need(const Runtime& rt, uint32_t np, uint32_t blocks) {
  return aligned(uint64_t{rt.cores()} * blocks * np * rt.layer().seq_kv * kHalfBytes);
}

// Without K (or V) and tiles: the larger of what Q, and O with its sums, take.
uint64_t rows_need(const Runtime& rt, const Tiling& t) {
  const uint64_t block = uint64_t{rt.cores()} * min(t.nq, rt.layer().seq_q) * row_bytes(rt);
  const uint64_t sums = block / kHalfBytes * kPartialBytes;
  return max(aligned(t.row_buffers * block), aligned(o_buffers(t) * block) + aligned(sums));
}

uint64_t matmul_need(const Runtime& rt, const Tiling& t) {
  const hal::Layer& l = rt.layer();
  const uint64_t kv_rows = streamed(t) ? uint64_t{KvBuffer::kStreamSlots} * t.nkv : uint64_t{t.kv_buffers} * l.seq_kv;
  const uint64_t tile = uint64_t{min(t.nq, l.seq_q)} * t.nkv * kHalfBytes;
  return aligned(members(t) * kv_rows * row_bytes(rt)) + aligned(uint64_t{rt.cores()} * ScoreTiles::kTiles * tile) +
         rows_need(rt, t);
}

// The widest tile that fits beside everything else, in equal parts of the sequence; 0: none does.
uint32_t widest(const Runtime& rt, const Tiling& t) {
  const hal::Layer& l = rt.layer();
  Tiling none = t;
  none.nkv = 0;
  const uint64_t fixed = matmul_need(rt, none) + 128;  // two things grow, and are aligned
  if (fixed >= rt.machine().l1_bytes) return 0;
  const uint64_t each = uint64_t{rt.cores()} * ScoreTiles::kTiles * min(t.nq, l.seq_q) * kHalfBytes +
                        (streamed(t) ? uint64_t{KvBuffer::kStreamSlots} * members(t) * row_bytes(rt) : 0);
  const auto most = static_cast<uint32_t>(min<uint64_t>((rt.machine().l1_bytes - fixed) / each, l.seq_kv));
  if (most == 0 || most == l.seq_kv) return most;
  const uint32_t unit = most >= t.n0 ? t.n0 : most >= rt.machine().mac_columns ? rt.machine().mac_columns : 1;
  const uint64_t blocks = ceil_div(l.seq_kv, uint64_t{most / unit} * unit);
  return static_cast<uint32_t>(round_up(ceil_div(l.seq_kv, blocks), unit));
}

// Cycles of both matmuls at least, for comparing tilings with each other.
uint64_t estimate(const Runtime& rt, const Tiling& t) {
  const hal::MachineInfo& m = rt.machine();
  const hal::Layer& l = rt.layer();
  const uint64_t heads = uint64_t{l.batch} * l.heads, workers = uint64_t{m.cores} * m.clusters;
  const uint32_t unit = t.nq >= m.mac_rows ? m.mac_rows : t.nq;
  const uint64_t blocks = row_blocks(l.seq_q, t.nq, unit, members(t) == 1 ? m.cores : 1);
  const uint64_t tiles = ceil_div(l.seq_kv, t.nkv);
  const uint64_t items = ceil_div(heads * blocks, workers);
  const uint64_t passes = ceil_div(ceil_div(l.seq_q, unit), blocks);
  const uint64_t c = items * (passes * ceil_div(l.seq_kv, m.mac_columns) * l.emb + tiles * kTileCycles);
  const uint64_t o = items * (passes * ceil_div(l.emb, m.mac_columns) * l.seq_kv + tiles * kTileCycles);
  const auto cycles = [&](uint64_t bytes) { return bytes * 1024 / max(m.dram_rate_1024, 1U); };
  const uint64_t k = cycles(uint64_t{l.seq_kv} * row_bytes(rt));
  const uint64_t reads = streamed(t) ? ceil_div(heads * blocks, m.cores) : heads;
  const uint64_t rows = heads * l.seq_q;
  const uint64_t stores = cycles(rows * l.seq_kv * kHalfBytes);
  // Rows of narrow tiles are short bursts, of which only so many are under way.
  const uint64_t loads = max(stores, rows * tiles * 1024 / max(m.row_rate_1024, 1U));
  const uint64_t rest = cycles(rows * row_bytes(rt)) + reads * k;
  return max(c, stores + rest) + max(o, loads + rest) + (t.kv_buffers == 1 ? 2 * heads * k : 0);
}

// N_P; 0: not even one row fits.
uint32_t softmax_rows(const Runtime& rt, const Tiling& t) {
  for (uint32_t blocks = kSoftmaxBlocks; blocks > 0; --blocks) {
    const uint64_t rows = rt.machine().l1_bytes / 64 * 64 / softmax_need(rt, 1, blocks);
    if (t.np > 0 && softmax_need(rt, t.np, blocks) <= rt.machine().l1_bytes) return t.np;
    if (t.np == 0 && rows > 0) return static_cast<uint32_t>(min<uint64_t>(rows, min(t.nq, rt.layer().seq_q)));
  }
  return 0;
}

}  // namespace

uint32_t softmax_blocks(const Runtime& rt, uint32_t np) {
  uint32_t blocks = kSoftmaxBlocks;
  while (blocks > 1 && softmax_need(rt, np, blocks) > rt.machine().l1_bytes) --blocks;
  return blocks;
}

uint64_t score_tiles_need(const Runtime& rt, const Tiling& t) {
  return max(matmul_need(rt, t), softmax_need(rt, t.np, 1));
}

Choice find_score_tiles(Runtime& rt) {
  const hal::Layer& l = rt.layer();
  const uint32_t unit = rt.machine().mac_rows;
  Tiling given = rt.job().tiling;
  if (!begin_tiling(rt, given)) return {};
  if (given.bb == 0) given.bb = 1;
  if (given.hh == 0) given.hh = heads_together(rt);

  Choice choice;
  uint64_t best = UINT64_MAX;
  const auto consider = [&](uint32_t nq, uint32_t mode, uint32_t row_buffers) {
    if (given.kv_buffers != hal::kKvAuto && given.kv_buffers != mode) return;
    Tiling t = given;
    t.nq = nq;
    t.kv_buffers = mode;
    if (t.row_buffers == 0) t.row_buffers = row_buffers;
    // A core takes at most kMaxTokens sub-blocks' tokens at once.
    const auto least = static_cast<uint32_t>(ceil_div(l.seq_kv, hal::kMaxTokens));
    if (t.nkv == 0) t.nkv = max(widest(rt, t), least);
    // Higher than an array's rows only as long as they are no narrower: a row of a tile is what DMA moves at once.
    if (given.nq == 0 && nq > unit && t.nkv < min(nq, l.seq_kv)) return;
    if (t.nkv < least) t.nkv = least;
    const uint32_t np = softmax_rows(rt, t);
    t.np = max(np, max(given.np, 1U));
    const uint64_t need = score_tiles_need(rt, t);
    choice.least_need = min(choice.least_need, need);
    if (np == 0 || need > rt.machine().l1_bytes) return;
    const uint64_t cycles = estimate(rt, t);
    if (cycles >= best) return;
    best = cycles;
    choice = {true, t, choice.least_need};
  };
  const auto all_rows = [&](uint32_t mode) {
    for (uint32_t row_buffers = 2; row_buffers > 0; --row_buffers) {
      if (given.nq > 0) consider(given.nq, mode, row_buffers);
      for (uint32_t nq = unit; given.nq == 0 && nq < l.seq_q + unit; nq *= 2)
        consider(min(nq, l.seq_q), mode, row_buffers);
      for (uint32_t nq = 1; given.nq == 0 && nq < min(unit, l.seq_q); nq *= 2) consider(nq, mode, row_buffers);
    }
  };
  for (; given.hh > 0 && !choice.fits; given.hh = rt.job().tiling.hh == 0 && given.hh > 1 ? 1 : 0) {
    for (uint32_t buffers = 2; buffers > 0; --buffers) all_rows(buffers);
    all_rows(hal::kKvStream);
    if (given.kv_buffers > 2 && given.kv_buffers != hal::kKvStream) all_rows(given.kv_buffers);
  }
  return choice;
}

}  // namespace attnvp::firmware
