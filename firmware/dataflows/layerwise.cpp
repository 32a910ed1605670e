// Layer-Wise, the unfused baseline: C = Q K^T for the whole layer, then P = softmax(C), then O = P V, with C and P in
// DRAM. Transfers and computation overlap within an operator, but operators do not overlap. Row blocks are whole rows
// of scores; if L1 does not hold one pass of the MAC array, scores are processed in tiles.
#include "firmware/runtime/attention/attention.h"
#include "firmware/runtime/attention/row_pipelines.h"
#include "firmware/runtime/attention/score_tiles.h"
#include "firmware/runtime/loads.h"

namespace attnvp::firmware {

namespace {

const char* const kSpills[] = {"l1", "fusemax", nullptr};
const DataflowOption kOptions[] = {
    {"spills", kSpills, "C and P go from the engines to DRAM by way of L1, or past it, as FuseMax's baseline has it"},
    {nullptr, nullptr, nullptr}};

void by_rows(Runtime& rt, const ScoreTiling& tiling, bool forwarded) {
  const ScoreBlocks scores{3, true, forwarded};  // one being loaded, one in use, one being stored
  const Work work(rt, tiling);
  AttentionSteps attention(rt, work, tiling, scores);
  const uint64_t mark = rt.allocated();
  check_space_of_v(rt, work, tiling);
  {
    KvBuffer k(rt, work, tiling, rt.layer().k, kLoadChannel);
    Loads loads(rt, work, attention, &AttentionSteps::load_q, &k, nullptr, {0, true, tiling.row_buffers});
    for (Work::Round i = work.first(); rt.ok() && i.valid; i = work.after(i)) {
      loads.need_for_c();
      attention.produce_c(k, i, loads);
      attention.store_c(i);
    }
    attention.finish(k);
    rt.free_to(mark);
  }
  for (Work::Round i = work.first(); rt.ok() && i.valid; i = work.after(i)) {
    attention.load_c(i);
    attention.produce_p(i);
    attention.store_p(i);
  }
  attention.finish();
  o_from_dram(rt, work, attention, tiling, scores);
}

void by_tiles(Runtime& rt, const ScoreTiling& tiling, bool forwarded) {
  ScoreTiles all(rt, tiling, Steps::kInTurn, forwarded);
  const Work& work = all.work();
  const uint64_t mark = rt.allocated();
  rt.check_space_of([&] { SoftmaxRows p(all); });
  rt.check_space_of([&] { OTiles o(all); });
  {
    CTiles c(all);
    for (Work::Round i = work.first(); rt.ok() && i.valid; i = work.after(i)) {
      for (uint32_t j = 0; rt.ok() && j < all.blocks(); ++j) c.tile(i, j);
    }
    c.end();
    all.finish(mark);
  }
  {
    SoftmaxRows p(all);
    for (Work::Round i = work.first(); rt.ok() && i.valid; i = work.after(i)) {
      for (uint32_t n = 0; rt.ok() && n < all.softmaxes(); ++n) p.rows(i, n);
    }
    all.finish(mark);
  }
  OTiles o(all);
  for (Work::Round i = work.first(); rt.ok() && i.valid; i = work.after(i)) {
    for (uint32_t j = 0; rt.ok() && j < all.blocks(); ++j) o.tile(i, j);
  }
  o.end();
  all.finish(mark);
}

void run(Runtime& rt) {
  const auto tiling = rt.parameters<ScoreTiling>();
  if (!rt.ok()) return;
  const bool forwarded = rt.job().option[0] == 1;
  if (tiling.in_tiles()) {
    by_tiles(rt, tiling, forwarded);
  } else {
    by_rows(rt, tiling, forwarded);
  }
}

const Dataflow kLayerwise = {"layerwise",
                             "Layer-Wise: three operators in turn, C and P by way of DRAM",
                             run,
                             kScoreParameters,
                             kOptions,
                             nullptr,
                             hal::kScoresCAndP};
ATTNVP_DATAFLOW(kLayerwise);

}  // namespace

}  // namespace attnvp::firmware
