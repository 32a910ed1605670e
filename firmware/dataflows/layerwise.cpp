// Layer-Wise: the unfused baseline. C = Q K^T for the whole layer, then P = softmax(C), then O = P V, with C and P
// going through DRAM. Within an operator loads, computation and stores overlap; between operators everything ends.
// Row blocks are whole rows of scores; where L1 has no room for as many as the MAC array has, scores go in tiles.
#include "firmware/dataflows/dataflows.h"
#include "firmware/runtime/attention.h"
#include "firmware/runtime/loads.h"
#include "firmware/runtime/score_tiles.h"
#include "firmware/runtime/unfused.h"

namespace attnvp::firmware {

namespace {

void by_rows(Runtime& rt, const hal::Tiling& tiling, const Demand& demand) {
  const Work work(rt, tiling);
  Attention attention(rt, work, tiling, demand);
  const uint64_t mark = rt.allocated();
  {
    KvBuffer k(rt, work, tiling, rt.layer().k, kLoadChannel);
    Loads loads(rt, work, attention, &Attention::load_q, &k, nullptr, {0, true, tiling.row_buffers});
    for (Work::Round i = work.first(); rt.ok() && i.valid; i = work.after(i)) {
      loads.need_for_c();
      attention.produce_c(k, i, loads);
      attention.store_c(i);
    }
    attention.finish();
    rt.free_to(mark);
  }
  for (Work::Round i = work.first(); rt.ok() && i.valid; i = work.after(i)) {
    attention.load_c(i);
    attention.produce_p(i);
    attention.store_p(i);
  }
  attention.finish();
  o_from_dram(rt, work, attention, tiling, demand);
}

void by_tiles(Runtime& rt, const hal::Tiling& tiling) {
  ScoreTiles scores(rt, tiling);
  scores.c_to_dram();
  scores.softmax();
  scores.o_from_dram();
}

// L1 has room for as many whole rows as the MAC array has, or as there are for a core.
bool enough_rows(const Runtime& rt, const hal::Tiling& chosen, const Demand& demand) {
  hal::Tiling full = chosen;
  full.nq = min(rt.machine().mac_rows, static_cast<uint32_t>(ceil_div(rt.layer().seq_q, rt.cores())));
  full.kv_buffers = hal::kKvStream;
  full.row_buffers = 1;
  return rt.job().tiling.nq > 0 || chosen.nq >= full.nq || l1_need(rt, full, demand) <= rt.machine().l1_bytes;
}

// What the job asks for; else whole rows, if there are enough of them, or if tiles are no higher.
hal::Tiling choose(Runtime& rt, const Demand& demand) {
  const hal::Tiling& given = rt.job().tiling;
  const Choice rows = find_tiling(rt, demand);
  if (given.np == 0 && rows.fits && enough_rows(rt, rows.tiling, demand)) return rows.tiling;
  const Choice tiles = find_score_tiles(rt);
  const bool whole = rows.fits && given.np == 0;
  if (tiles.fits && !(whole && rows.tiling.nq >= tiles.tiling.nq)) return tiles.tiling;
  if (!whole) {
    const uint64_t need = given.np > 0 ? tiles.least_need : min(rows.least_need, tiles.least_need);
    rt.fail(Status::kL1TooSmall, need, rt.machine().l1_bytes);
  }
  return rows.tiling;
}

hal::Tiling run(Runtime& rt) {
  Demand demand;
  demand.kv_tensors = 1;    // K for the first operator, V for the last
  demand.score_blocks = 3;  // one being loaded, one computed, one stored
  demand.mac_vec_overlap = true;
  demand.score_tokens = true;
  demand.dram_scores = 4;
  const hal::Tiling tiling = choose(rt, demand);
  if (!rt.ok()) return tiling;
  if (tiling.np > 0) {
    by_tiles(rt, tiling);
  } else {
    by_rows(rt, tiling, demand);
  }
  return tiling;
}

}  // namespace

extern const Dataflow kLayerwise = {"layerwise", "Layer-Wise: three operators in turn, C and P by way of DRAM", nullptr,
                                    hal::kScoresCAndP, run};

}  // namespace attnvp::firmware
