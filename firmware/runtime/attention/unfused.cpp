#include "firmware/runtime/attention/unfused.h"

#include "firmware/runtime/loads.h"

namespace attnvp::firmware {

void o_from_dram(Runtime& rt, const Work& work, AttentionSteps& attention, const RowTiling& tiling,
                 const ScoreBlocks& scores) {
  KvBuffer v(rt, work, tiling, rt.layer().v, kLoadChannel);
  Loads loads(rt, work, attention, &AttentionSteps::load_p, nullptr, &v, {0, true, scores.count});
  for (Work::Round i = work.first(); rt.ok() && i.valid; i = work.after(i)) {
    loads.need_for_o();
    attention.produce_o(v, i);
    loads.pump();
  }
  attention.finish();
}

void check_space_of_v(Runtime& rt, const Work& work, const RowTiling& tiling) {
  if (rt.value_emb() <= rt.layer().emb) return;
  rt.check_space_of([&] { KvBuffer(rt, work, tiling, rt.layer().v, kLoadChannel); });
}

}  // namespace attnvp::firmware
