// Decoding: few queries, long contexts. LeanAttention deals all tiles of all heads' contexts to the workers in one walk
// (stream-K); FlashDecoding cuts every context into the same number of pieces; FlashAttention-2 does not cut at all.
#include "firmware/runtime/decode.h"

#include "firmware/dataflows/dataflows.h"

namespace attnvp::firmware {

namespace {

enum class Deal : std::uint8_t { kStreamed, kSplit, kWhole };

hal::Tiling run(Runtime& rt, Deal deal) {
  const DecodePlan plan = plan_decode(rt);
  if (!rt.ok()) return plan.tiling;
  const Contexts contexts(rt, plan.tiling.nkv);
  const uint32_t slots = rt.machine().clusters * rt.cores();
  const uint32_t heads = contexts.heads() * contexts.batches();
  const uint32_t splits = deal == Deal::kStreamed ? 0
                          : deal == Deal::kWhole  ? 1
                                                  : StreamK::flash_decoding_splits(heads, slots, contexts.most_tiles());
  const StreamK work(contexts, slots, splits);
  Decode decode(rt, plan, contexts, work);
  if (rt.ok()) decode.run();
  return plan.tiling;
}

hal::Tiling run_lean(Runtime& rt) { return run(rt, Deal::kStreamed); }
hal::Tiling run_flash_decoding(Runtime& rt) { return run(rt, Deal::kSplit); }
hal::Tiling run_flash2(Runtime& rt) { return run(rt, Deal::kWhole); }

}  // namespace

extern const Dataflow kLean = {
    "lean",   "LeanAttention: stream-K over batch, heads and context, merged by the heads' hosts",
    nullptr,  hal::kScoresOnChip,
    run_lean, kRagged | kOnePass | kMerged};
extern const Dataflow kFlashDecoding = {"flash-decoding",
                                        "FlashDecoding: every context in the same number of pieces",
                                        nullptr,
                                        hal::kScoresOnChip,
                                        run_flash_decoding,
                                        kRagged | kOnePass | kMerged};
extern const Dataflow kFlash2 = {"flash2",   "FlashAttention-2: a whole context per worker",
                                 nullptr,    hal::kScoresOnChip,
                                 run_flash2, kRagged | kOnePass};

}  // namespace attnvp::firmware
