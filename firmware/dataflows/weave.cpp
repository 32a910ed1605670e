// Weave: overlaps MAC and VEC engines with one of several schedule variants, selected by the parameter `walk`. Row
// blocks whose scores fit into L1 run as two streams, longer ones in one pass over tiles of keys. Under a mask, row
// blocks are distributed so that their lengths balance. The cores of a cluster process a head together, or each works
// independently with equal shares of all keys. All variants consist of the steps of the published dataflows.
#include "firmware/runtime/attention/decode.h"
#include "firmware/runtime/attention/online_attention.h"
#include "firmware/runtime/attention/row_pipelines.h"

namespace attnvp::firmware {

namespace {

enum WeaveVariant : uint32_t { kRows = 1, kPairs, kTurns, kTiles, kArray, kAlone, kShares };

constexpr NamedValue kWalks[] = {
    {"rows", "row blocks with all of their scores in L1: MAC and VEC as two streams, never drained", 0, "mas"},
    {"pairs", "likewise, two cores at a row block: C on one's array, O on the other's, softmax on both"},
    {"turns",
     "likewise, scores, softmax and products of a block in turn, where L1 has room for one block of scores only", 0,
     "flat"},
    {"tiles", "in one pass over tiles of keys, which a cluster's cores share", kOnePass, "cascade"},
    {"array", "likewise, exponentials and row sums on the PEs that hold the scores", kOnePass, "fusemax"},
    {"alone", "in one pass, each core with row blocks and tiles of its own", kOnePass, "flash2"},
    {"shares", "likewise, each core with an equal share of all keys, merged behind", kOnePass | kMerged, "lean"},
    {nullptr, nullptr}};

// Two streams over row blocks, assigned round-robin to lanes of `cores` cores.
void by_rows(Runtime& rt, uint32_t cores) {
  const auto tiling = rt.parameters<RowTiling>();
  if (!rt.ok()) return;
  const uint32_t all = max(rt.cores() / cores, uint32_t{1});
  const Lanes lanes{min(all, most_items(rt, tiling)), cores == 1 ? 0 : all};
  const Work work(rt, tiling, lanes.count);
  TwoStreams streams(rt, work, tiling, lanes);
  if (rt.ok()) return streams.run();
  rt.tell_need_of([&] { TwoStreams(rt, work, tiling, lanes); });
}

// Every row block streams all tiles of keys; first and second halves of different steps overlap.
void by_tiles(Runtime& rt, bool in_array) {
  const OnlinePlan plan = plan_online(rt, in_array, false);
  if (!rt.ok()) return;
  OnlineAttention(rt, plan).run();
}

// Each core has its own row blocks: whole (one piece each) or in equal shares.
void by_cores(Runtime& rt, uint32_t pieces) {
  const DecodePlan plan = plan_decode(rt, false);
  if (!rt.ok()) return;
  const Contexts contexts(rt, plan.tiling.nq, plan.tiling.nkv, plan.resident);
  if (!rt.ok()) return;
  const StreamK work(contexts, rt.machine().clusters * rt.cores(), pieces);
  Decode decode(rt, plan, contexts, work);
  if (rt.ok()) decode.run();
}

// Ignores unused parameters and refuses unsupported values.
void check(Runtime& rt, const WeaveTiling& t) {
  const bool rows = t.walk <= kTurns, cores = t.walk >= kAlone;
  const uint32_t pair = 2;
  if ((t.walk == kPairs && rt.machine().cores % pair != 0) || (t.walk == kArray && rt.machine().resident_tiles == 0) ||
      (!cores && (rt.layer().ragged != 0 || rt.rules().page != 0))) {
    return rt.refuse(WeaveTiling::kWalk, t.walk);
  }
  if ((rows || cores) && t.steps > 1) return rt.refuse(WeaveTiling::kSteps, t.steps);
  if ((rows || cores) && t.spare != hal::kWord) return rt.refuse(WeaveTiling::kSpare, t.spare);
  if (!rows && t.bb > 1) return rt.refuse(WeaveTiling::kBb, t.bb);
  if (!rows && t.hh > 1) return rt.refuse(WeaveTiling::kHh, t.hh);
  if (cores && t.row_buffers > 1) rt.refuse(WeaveTiling::kRowBuffers, t.row_buffers);
}

void run(Runtime& rt) {
  const auto tiling = rt.parameters<WeaveTiling>();
  if (rt.ok()) check(rt, tiling);
  if (!rt.ok()) return;
  switch (tiling.walk) {
    case kRows:
      return by_rows(rt, 1);
    case kPairs:
      return by_rows(rt, 2);
    case kTurns:
      return in_turn(rt, rt.parameters<RowTiling>(), true);
    case kTiles:
    case kArray:
      return by_tiles(rt, tiling.walk == kArray);
    case kAlone:
      return by_cores(rt, 1);
    case kShares:
      return by_cores(rt, 0);
    default:
      return rt.refuse(WeaveTiling::kWalk, tiling.walk);
  }
}

const Parameter kKeys = {"nkv",
                         "N_KV: rows of a sub-block, or of a tile, of K and V",
                         Extent::kKeys,
                         Grain::kArrayColumns,
                         1,
                         nullptr,
                         {1},
                         false,
                         1};
const Parameter kBuffers = {
    "kv",
    "in L1 at once: rows, pairs, turns: groups of heads' whole K and V; otherwise tiles of them; "
    "stream: as few as do without waiting",
    Extent::kCount,
    Grain::kOne,
    16,
    "stream",
    {2, hal::kWord, 1, 3, 4, 16}};
const Parameter kSlabs = {
    "rb",
    "rows, pairs, turns: buffers for row blocks of Q per core; tiles, array: slabs of a row block",
    Extent::kBlocks,
    Grain::kOne,
    1,
    nullptr,
    {4, 2, 1}};
const Parameter kSteps = {"steps",
                          "tiles, array: steps of a core from a step's first half to its second; 1: in turn",
                          Extent::kCount,
                          Grain::kOne,
                          5,
                          nullptr,
                          {3, 2, 1}};
const Parameter kSpare = {"spare",
                          "tiles, array: slabs of a core in L1 beyond a row block's, being loaded or stored",
                          Extent::kCount,
                          Grain::kOne,
                          64,
                          "none",
                          {2, hal::kWord, 1}};
const Parameter kWalk = {"walk",
                         "how cores go through rows and keys",
                         Extent::kCount,
                         Grain::kOne,
                         kShares,
                         nullptr,
                         {kRows, kPairs, kTurns, kTiles, kArray, kAlone, kShares},
                         false,
                         0,
                         kWalks};

using namespace parameter;
const Parameter* const kParameters[] = {&kBb,      &kHh,    &kNq,    &kKeys,  &kM0,   &kN0,   &kK0,
                                        &kBuffers, &kSlabs, &kSteps, &kSpare, &kWalk, nullptr};

const Dataflow kWeave = {
    "weave",
    "whichever walk keeps arrays and vector engines busy side by side: two streams, one pass, shares",
    run,
    kParameters,
    nullptr,
    kPartitionStatistics,
    hal::kScoresOnChip,
    kRagged};
ATTNVP_DATAFLOW(kWeave);

}  // namespace

}  // namespace attnvp::firmware
