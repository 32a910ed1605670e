#include "firmware/runtime/attention/in_turn.h"

#include "firmware/runtime/attention/attention.h"
#include "firmware/runtime/loads.h"

namespace attnvp::firmware {

void in_turn(Runtime& rt, const RowTiling& tiling, bool prefetch) {
  const Work work(rt, tiling);
  AttentionSteps attention(rt, work, tiling, {});
  KvBuffer k(rt, work, tiling, rt.layer().k, kLoadChannel);
  KvBuffer v(rt, work, tiling, rt.layer().v, kLoadChannel);
  Loads loads(rt, work, attention, &AttentionSteps::load_q, &k, &v, {0, prefetch, tiling.row_buffers});
  if (!prefetch) rt.lock_step();

  for (Work::Round i = work.first(); rt.ok() && i.valid; i = work.after(i)) {
    loads.need_for_c();
    attention.produce_c(k, i, loads);  // C_i = Q_i K^T
    attention.produce_p(i);            // P_i = softmax(C_i)
    loads.need_for_o();
    attention.produce_o(v, i);  // O_i = P_i V
    loads.pump();
  }
  attention.finish();
}

}  // namespace attnvp::firmware
