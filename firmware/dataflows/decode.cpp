// Decoding: few queries, long contexts. LeanAttention distributes all tiles of all heads' contexts as one linear
// sequence (stream-K). FlashDecoding cuts every context into the same number of pieces. FlashAttention-2 does not
// split.
#include "firmware/runtime/attention/decode.h"

namespace attnvp::firmware {

namespace {

enum class DecodeDeal : std::uint8_t { kStreamed, kSplit, kWhole, kPipelined };

void run(Runtime& rt, DecodeDeal deal) {
  const DecodePlan plan = plan_decode(rt, deal != DecodeDeal::kStreamed);
  if (rt.ok() && deal == DecodeDeal::kPipelined && plan.lag == 0) rt.refuse(7, plan.kv_ring);
  if (!rt.ok()) return;
  const Contexts contexts(rt, plan.tiling.nq, plan.tiling.nkv, plan.resident);
  if (!rt.ok()) return;
  const uint32_t slots = rt.machine().clusters * rt.cores() * plan.share;
  const uint32_t heads = contexts.heads() * contexts.count();
  // The public kernels assume two thread blocks per multiprocessor, regardless of the actual number.
  const bool blocks = plan.grid == Grid::kBlocks;
  const uint32_t fill = blocks ? 2 * rt.machine().clusters * rt.cores() : slots;
  const uint32_t splits = deal == DecodeDeal::kStreamed ? 0
                          : deal != DecodeDeal::kSplit
                              ? 1
                              : StreamK::flash_decoding_splits(heads, fill, contexts.most_tiles());
  const GridOrder order{blocks ? max<uint32_t>(rt.machine().cluster_groups, 1) : 0, plan.heads_first};
  StreamK work(contexts, slots, splits, order);
#if ATTNVP_HETEROGENEOUS_CORES
  if (rt.is_heterogeneous()) work.deal_by_weight(rt);
#endif
  Decode decode(rt, plan, contexts, work);
  if (rt.ok()) decode.run();
}

void run_lean(Runtime& rt) { run(rt, DecodeDeal::kStreamed); }
void run_flash_decoding(Runtime& rt) { run(rt, DecodeDeal::kSplit); }
void run_flash2(Runtime& rt) { run(rt, DecodeDeal::kWhole); }

const Dataflow kLean = {"lean",
                        "LeanAttention: stream-K over batch, heads and context, merged by the heads' hosts",
                        run_lean,
                        kDecodeParameters,
                        nullptr,
                        kPartitionStatistics,
                        hal::kScoresOnChip,
                        kRagged | kOnePass | kMerged};
ATTNVP_DATAFLOW(kLean);
const Dataflow kFlashDecoding = {"flash-decoding",   "FlashDecoding: every context in the same number of pieces",
                                 run_flash_decoding, kDecodeParameters,
                                 kGridOptions,       kPartitionStatistics,
                                 hal::kScoresOnChip, kRagged | kOnePass | kMerged};
ATTNVP_DATAFLOW(kFlashDecoding);
const Dataflow kFlash2 = {"flash2",           "FlashAttention-2: a whole context per worker",
                          run_flash2,         kDecodeParameters,
                          kFlash2Options,     kPartitionStatistics,
                          hal::kScoresOnChip, kRagged | kOnePass | kHeterogeneousCores};
ATTNVP_DATAFLOW(kFlash2);
// Softmax of a tile overlaps the matmuls of the next: at least two tiles of K and V are in flight.
void run_flash3(Runtime& rt) { run(rt, DecodeDeal::kPipelined); }
const Dataflow kFlash3 = {
    "flash3",           "FlashAttention-3: as flash2, softmax of a tile beside the matmuls of the next",
    run_flash3,         kDecodeParameters,
    kGridOptions,       kPartitionStatistics,
    hal::kScoresOnChip, kRagged | kOnePass | kHeterogeneousCores};
ATTNVP_DATAFLOW(kFlash3);

}  // namespace

}  // namespace attnvp::firmware
