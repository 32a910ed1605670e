// Tile sizes for score_tiles.h. Row blocks of one array's rows, or higher ones, as K and V that are streamed come anew
// for each; tiles as wide as they fit beside everything else; an estimate of the time says which is best.
#include "firmware/runtime/score_tiles.h"

namespace attnvp::firmware {

namespace {

using hal::Tiling;

constexpr uint32_t kMostTiles = 3, kLeastTiles = 2;  // one at the MAC array, others on their way
constexpr uint32_t kSoftmaxInTurn = 3;               // one being loaded, one computed, one stored
constexpr uint32_t kSoftmaxSideBySide = 6;           // more, as their transfers wait for those of the tiles
constexpr uint32_t kSoftmaxShare = 4;                // side by side, softmax takes up to this part of L1
constexpr uint64_t kTileCycles = 200;  // of a tile's first operands and last results, which the array waits for

uint64_t aligned(uint64_t bytes) { return round_up(bytes, 64); }
bool streamed(const Tiling& t) { return t.kv_buffers == hal::kKvStream; }

// Bytes of L1 by what they are for.
class Need {
 public:
  Need(const Runtime& rt, Steps steps) : rt_(rt), l_(rt.layer()), steps_(steps) {}

  uint64_t softmax(uint32_t np, uint32_t blocks) const {
    return aligned(uint64_t{rt_.cores()} * blocks * np * l_.seq_kv * kHalfBytes);
  }
  // Both matmuls; in turn, the larger.
  uint64_t matmuls(const Tiling& t, uint32_t tiles) const {
    const uint64_t block = uint64_t{rt_.cores()} * rows(t) * row_bytes();
    const uint64_t q = aligned(t.row_buffers * block);
    const uint64_t o = aligned(o_buffers(t) * block) + aligned(block / kHalfBytes * kPartialBytes);
    const uint64_t kv_rows =
        streamed(t) ? uint64_t{KvBuffer::kStreamSlots} * t.nkv : uint64_t{t.kv_buffers} * l_.seq_kv;
    const uint64_t each = aligned(members(t) * kv_rows * row_bytes()) +
                          aligned(uint64_t{rt_.cores()} * tiles * rows(t) * t.nkv * kHalfBytes);
    return steps_ == Steps::kInTurn ? each + max(q, o) : 2 * each + q + o;
  }
  uint64_t all(const Tiling& t, const ScoreBuffers& b) const {
    const uint64_t m = matmuls(t, b.tiles), s = softmax(t.np, b.softmax);
    return steps_ == Steps::kInTurn ? max(m, s) : m + s;
  }
  bool fit(const Tiling& t, const ScoreBuffers& b) const { return all(t, b) <= rt_.machine().l1_bytes; }

  // The widest tile that fits beside everything else, in equal parts of the sequence; 0: none does.
  uint32_t widest(const Tiling& t, const ScoreBuffers& b) const {
    Tiling none = t;
    none.nkv = 0;
    const uint64_t twice = steps_ == Steps::kInTurn ? 1 : 2;
    // What grows is aligned.
    const uint64_t fixed = (steps_ == Steps::kInTurn ? matmuls(none, b.tiles) : all(none, b)) + twice * 128;
    if (fixed >= rt_.machine().l1_bytes) return 0;
    const uint64_t each = uint64_t{rt_.cores()} * b.tiles * rows(t) * kHalfBytes +
                          (streamed(t) ? uint64_t{KvBuffer::kStreamSlots} * members(t) * row_bytes() : 0);
    const auto most =
        static_cast<uint32_t>(min<uint64_t>((rt_.machine().l1_bytes - fixed) / (twice * each), l_.seq_kv));
    if (most == 0 || most == l_.seq_kv) return most;
    const uint32_t unit = most >= t.n0 ? t.n0 : most >= rt_.machine().mac_columns ? rt_.machine().mac_columns : 1;
    const uint64_t blocks = ceil_div(l_.seq_kv, uint64_t{most / unit} * unit);
    return static_cast<uint32_t>(round_up(ceil_div(l_.seq_kv, blocks), unit));
  }

 private:
  uint64_t row_bytes() const { return uint64_t{l_.emb} * kHalfBytes; }
  uint32_t rows(const Tiling& t) const { return min(t.nq, l_.seq_q); }
  static uint64_t members(const Tiling& t) { return uint64_t{t.bb} * t.hh; }

  const Runtime& rt_;
  const hal::Layer& l_;
  Steps steps_;
};

// Cycles at least, for comparing tilings with each other: in turn of both matmuls, side by side of everything.
uint64_t estimate(const Runtime& rt, const Tiling& t, Steps steps) {
  const hal::MachineInfo& m = rt.machine();
  const hal::Layer& l = rt.layer();
  const uint64_t heads = uint64_t{l.batch} * l.heads, workers = uint64_t{m.cores} * m.clusters;
  const uint32_t unit = t.nq >= m.mac_rows ? m.mac_rows : t.nq;
  const uint64_t blocks = row_blocks(l.seq_q, t.nq, unit, t.bb * t.hh == 1 ? m.cores : 1);
  const uint64_t tiles = ceil_div(l.seq_kv, t.nkv);
  const uint64_t items = ceil_div(heads * blocks, workers);
  const uint64_t passes = ceil_div(ceil_div(l.seq_q, unit), blocks);
  const uint64_t c = items * tiles * (passes * ceil_div(t.nkv, m.mac_columns) * l.emb + kTileCycles);
  const uint64_t o = items * (passes * ceil_div(l.emb, m.mac_columns) * l.seq_kv + tiles * kTileCycles);
  // Loads are bursts, of which only so many are under way: those of a row of a narrow tile are short ones.
  const auto bus = [&](uint64_t bytes) { return bytes * 1024 / max(m.dram_rate_1024, 1U); };
  const auto bursts = [&](uint64_t row_bytes) { return ceil_div(row_bytes, uint64_t{1} << m.burst_log2); };
  const auto load = [&](uint64_t rows, uint64_t row_bytes) {
    return max(bus(rows * row_bytes), rows * bursts(row_bytes) * 1024 / max(m.burst_rate_1024, 1U));
  };
  const uint64_t k = load(1, uint64_t{l.seq_kv} * l.emb * kHalfBytes);
  const uint64_t reads = streamed(t) ? ceil_div(heads * blocks, m.cores) : heads;
  const uint64_t rows = heads * l.seq_q;
  const uint64_t q = bus(rows * l.emb * kHalfBytes);  // as long as O
  const uint64_t score_bytes = uint64_t{l.seq_kv} * kHalfBytes;
  const uint64_t stores = bus(rows * score_bytes);
  const uint64_t tile_loads = load(rows * tiles, min<uint64_t>(uint64_t{t.nkv} * kHalfBytes, score_bytes));
  const uint64_t loads = max(stores, tile_loads);
  const uint64_t rest = q + reads * k;
  // The first tile's C hides no store, the last one's load and O hide nothing.
  const uint64_t one_tile = (c + o) / (items * tiles) + (stores + loads) / (heads * blocks * tiles);
  const uint64_t not_hidden = one_tile + (t.kv_buffers == 1 ? 2 * heads * k : 0);
  if (steps == Steps::kInTurn) return max(c, stores + rest) + max(o, loads + rest) + not_hidden;
  const uint64_t vec = ceil_div(rows, workers) * l.seq_kv * 1024 / max(m.softmax_rate_1024, 1U);
  // In the first two and last two rounds not all of the steps have a row block.
  const uint64_t one_c = c / items, one_o = o / items, one_p = vec / items;
  const uint64_t dram_c = (stores + rest) / items, dram_p = 2 * stores / items, dram_o = (loads + rest) / items;
  if (items == 1) return max(one_c, dram_c) + max(one_p, dram_p) + max(one_o, dram_o) + not_hidden;
  return max(one_c, dram_c) + max(max(one_c, one_p), dram_c + dram_p) +
         (items - 2) * max(max(one_c + one_o, one_p), dram_c + dram_p + dram_o) +
         max(max(one_p, one_o), dram_p + dram_o) + max(one_o, dram_o) + not_hidden;
}

// N_P as given; or in turn what fits, side by side what the share allows; 0: not even one row fits.
uint32_t softmax_rows(const Runtime& rt, const Tiling& t, Steps steps) {
  const Need need(rt, steps);
  const uint64_t l1 = rt.machine().l1_bytes / 64 * 64;
  const uint32_t rows = min(t.nq, rt.layer().seq_q);
  if (steps == Steps::kSideBySide) {
    const uint64_t fit = l1 / kSoftmaxShare / need.softmax(1, kSoftmaxSideBySide);
    return t.np > 0 ? t.np : static_cast<uint32_t>(min<uint64_t>(max<uint64_t>(fit, 1), rows));
  }
  for (uint32_t blocks = kSoftmaxInTurn; blocks > 0; --blocks) {
    if (t.np > 0 && need.softmax(t.np, blocks) <= l1) return t.np;
    const uint64_t fit = l1 / need.softmax(1, blocks);
    if (t.np == 0 && fit > 0) return static_cast<uint32_t>(min<uint64_t>(fit, rows));
  }
  return 0;
}

uint32_t most_softmax(Steps steps) { return steps == Steps::kInTurn ? kSoftmaxInTurn : kSoftmaxSideBySide; }

}  // namespace

ScoreBuffers score_buffers(const Runtime& rt, const Tiling& t, Steps steps) {
  const Need need(rt, steps);
  ScoreBuffers b{kLeastTiles, most_softmax(steps)};
  if (steps == Steps::kInTurn) {
    while (b.softmax > 1 && need.softmax(t.np, b.softmax) > rt.machine().l1_bytes) --b.softmax;
    if (need.matmuls(t, kMostTiles) <= rt.machine().l1_bytes) b.tiles = kMostTiles;
    return b;
  }
  while (b.softmax > 1 && !need.fit(t, b)) --b.softmax;
  if (need.fit(t, {kMostTiles, b.softmax})) b.tiles = kMostTiles;
  return b;
}

namespace {

Choice find_score_tiles(Runtime& rt, Steps steps) {
  const hal::Layer& l = rt.layer();
  const uint32_t unit = rt.machine().mac_rows;
  Tiling given = rt.job().tiling;
  if (!begin_tiling(rt, given)) return {};
  if (given.bb == 0) given.bb = 1;
  if (given.hh == 0) given.hh = heads_together(rt);

  Choice choice;
  const auto consider = [&](uint32_t nq, uint32_t mode, uint32_t row_buffers, const ScoreBuffers& buffers) {
    if (given.kv_buffers != hal::kKvAuto && given.kv_buffers != mode) return;
    Tiling t = given;
    t.nq = nq;
    t.kv_buffers = mode;
    if (t.row_buffers == 0) t.row_buffers = row_buffers;
    const uint32_t np = softmax_rows(rt, t, steps);
    t.np = max(np, max(given.np, 1U));
    // A core takes at most kMaxTokens sub-blocks' tokens at once.
    const auto least = static_cast<uint32_t>(ceil_div(l.seq_kv, hal::kMaxTokens));
    if (t.nkv == 0) t.nkv = Need(rt, steps).widest(t, buffers);
    t.nkv = max(t.nkv, least);
    choice.least_need = min(choice.least_need, Need(rt, steps).all(t, {kLeastTiles, 1}));
    if (np == 0 || !Need(rt, steps).fit(t, buffers)) return;
    const uint64_t cycles = estimate(rt, t, steps);
    if (cycles >= choice.cycles) return;
    choice.fits = true;
    choice.tiling = t;
    choice.cycles = cycles;
  };
  const auto all_rows = [&](uint32_t mode, const ScoreBuffers& buffers) {
    for (uint32_t row_buffers = 2; row_buffers > 0; --row_buffers) {
      if (given.nq > 0) consider(given.nq, mode, row_buffers, buffers);
      for (uint32_t nq = unit; given.nq == 0 && nq < l.seq_q + unit; nq *= 2)
        consider(min(nq, l.seq_q), mode, row_buffers, buffers);
      for (uint32_t nq = 1; given.nq == 0 && nq < min(unit, l.seq_q); nq *= 2) consider(nq, mode, row_buffers, buffers);
    }
  };
  for (; given.hh > 0 && !choice.fits; given.hh = rt.job().tiling.hh == 0 && given.hh > 1 ? 1 : 0) {
    for (uint32_t softmax = most_softmax(steps); softmax > 0 && !choice.fits; softmax /= 2) {
      for (uint32_t tiles = kMostTiles; tiles >= kLeastTiles; --tiles) {
        const ScoreBuffers buffers{tiles, softmax};
        for (uint32_t kv = 2; kv > 0; --kv) all_rows(kv, buffers);
        all_rows(hal::kKvStream, buffers);
        if (given.kv_buffers > 2 && given.kv_buffers != hal::kKvStream) all_rows(given.kv_buffers, buffers);
      }
    }
  }
  return choice;
}

// L1 has room for as many whole rows as the MAC array has, or as there are for a core.
bool enough_rows(const Runtime& rt, const Tiling& chosen, const Demand& demand) {
  Tiling full = chosen;
  full.nq = min(rt.machine().mac_rows, static_cast<uint32_t>(ceil_div(rt.layer().seq_q, rt.cores())));
  full.kv_buffers = hal::kKvStream;
  full.row_buffers = 1;
  return rt.job().tiling.nq > 0 || chosen.nq >= full.nq || l1_need(rt, full, demand) <= rt.machine().l1_bytes;
}

}  // namespace

Tiling choose_rows_or_tiles(Runtime& rt, const Demand& demand, Steps steps) {
  const bool asked = rt.job().tiling.np > 0;
  const Choice rows = asked ? Choice() : find_tiling(rt, demand);
  if (rows.fits && enough_rows(rt, rows.tiling, demand)) return rows.tiling;
  const Choice tiles = find_score_tiles(rt, steps);
  // In turn no less high a tile is no slower; side by side scores cost bandwidth that whole rows do not.
  const bool better = steps == Steps::kInTurn ? tiles.tiling.nq > rows.tiling.nq : tiles.cycles < rows.cycles;
  if (tiles.fits && (!rows.fits || better)) return tiles.tiling;
  if (!rows.fits) rt.fail(Status::kL1TooSmall, min(rows.least_need, tiles.least_need), rt.machine().l1_bytes);
  return rows.tiling;
}

}  // namespace attnvp::firmware
