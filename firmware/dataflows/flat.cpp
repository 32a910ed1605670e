// FLAT: all three operators fused on chip, one row block after the other. With prefetch=on, loads of the next blocks
// and stores overlap computation; with prefetch=off, transfers and computation alternate.
#include "firmware/runtime/attention/row_pipelines.h"
#include "firmware/runtime/attention/score_tiles.h"

namespace attnvp::firmware {

namespace {

const char* const kOnOff[] = {"on", "off", nullptr};
const char* const kOverlap[] = {"off", "on", nullptr};
const DataflowOption kOptions[] = {
    {"prefetch", kOnOff, "loads and stores overlap with computation"},
    {"overlap", kOverlap,
     "softmax of one row block beside the matmuls of others, as FuseMax's authors "
     "assume and MAS-Attention's do not; rows of scores too long for L1 may then go by way "
     "of DRAM, in tiles"},
    {nullptr, nullptr, nullptr}};

// For row blocks that exceed L1: C, softmax and O of three consecutive row blocks run in parallel, with scores in DRAM.
void by_tiles(Runtime& rt, const ScoreTiling& tiling) {
  ScoreTiles all(rt, tiling, Steps::kSideBySide);
  const Work& work = all.work();
  const uint64_t mark = rt.allocated();
  CTiles c(all);
  SoftmaxRows p(all);
  OTiles o(all);
  Work::Round i = work.first(), i_1, i_2;  // i, i-1, i-2
  while (rt.ok() && (i.valid || i_1.valid || i_2.valid)) {
    uint32_t n = 0;
    for (uint32_t j = 0; rt.ok() && j < all.blocks(); ++j) {
      if (i_2.valid) o.tile(i_2, j);  // O_{i-2} (+)= P_{i-2,j} V_j
      if (i.valid) c.tile(i, j);      // C_i,j = Q_i K_j^T
      const uint64_t until = uint64_t{all.softmaxes()} * (j + 1) / all.blocks();
      for (; i_1.valid && n < until; ++n) p.rows(i_1, n);  // P_{i-1} = softmax(C_{i-1}), some rows
    }
    i_2 = i_1;
    i_1 = i;
    i = work.after(i);
  }
  c.end();
  o.end();
  all.finish(mark);
}

void run(Runtime& rt) {
  const auto tiling = rt.parameters<ScoreTiling>();
  if (!rt.ok()) return;
  const bool prefetch = rt.job().option[0] == 0, overlap = rt.job().option[1] == 1 && !rt.plain();
  if (!prefetch || !overlap) {
    if (tiling.in_tiles()) rt.refuse(ScoreTiling::kNp, tiling.np);
    in_turn(rt, tiling, prefetch);
  } else if (tiling.in_tiles()) {
    by_tiles(rt, tiling);
  } else {
    TwoStreams(rt, Work(rt, tiling), tiling).run();
  }
}

const Dataflow kFlat = {"flat",
                        "FLAT: fused on chip, operators one after the other",
                        run,
                        kScoreParameters,
                        kOptions,
                        nullptr,
                        hal::kScoresOnChip,
                        kChain | kHeterogeneousCores};
ATTNVP_DATAFLOW(kFlat);

}  // namespace

}  // namespace attnvp::firmware
