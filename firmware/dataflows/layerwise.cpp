// Layer-Wise: the unfused baseline. C = Q K^T for the whole layer, then P = softmax(C), then O = P V, with C and P
// going through DRAM. Within an operator loads, computation and stores overlap; between operators everything ends.
#include "firmware/dataflows/dataflows.h"
#include "firmware/runtime/attention.h"
#include "firmware/runtime/loads.h"
#include "firmware/runtime/unfused.h"

namespace attnvp::firmware {

namespace {

hal::Tiling run(Runtime& rt) {
  Demand demand;
  demand.kv_tensors = 1;    // K for the first operator, V for the last
  demand.score_blocks = 3;  // one being loaded, one computed, one stored
  demand.mac_vec_overlap = true;
  demand.score_tokens = true;
  demand.dram_scores = 4;
  const hal::Tiling tiling = choose_tiling(rt, demand);
  if (!rt.ok()) return tiling;

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
  return tiling;
}

}  // namespace

extern const Dataflow kLayerwise = {"layerwise", "Layer-Wise: three operators in turn, C and P by way of DRAM", nullptr,
                                    hal::kScoresCAndP, run};

}  // namespace attnvp::firmware
