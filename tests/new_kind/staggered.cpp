// A dataflow of its own: O of one row block comes right behind C of the next, so that MAC computes while VEC does the
// softmax between them.
#include "firmware/runtime/attention/attention.h"
#include "firmware/runtime/loads.h"

namespace attnvp::firmware {

namespace {

void run(Runtime& rt) {
  const auto tiling = rt.parameters<RowTiling>();
  if (!rt.ok()) return;
  const Work work(rt, tiling);
  AttentionSteps attention(rt, work, tiling, {2});
  KvBuffer k(rt, work, tiling, rt.layer().k, kLoadChannel);
  KvBuffer v(rt, work, tiling, rt.layer().v, kLoadChannel);
  Loads loads(rt, work, attention, &AttentionSteps::load_q, &k, &v, {1, true, tiling.row_buffers});
  Work::Round i = work.first(), i_1;
  while (rt.ok() && (i.valid || i_1.valid)) {
    if (i_1.valid) loads.need_for_o();
    if (i.valid) {
      loads.need_for_c();
      attention.produce_c(k, i, loads);
      attention.produce_p(i);
    }
    if (i_1.valid) attention.produce_o(v, i_1);
    i_1 = i;
    i = work.after(i);
  }
  attention.finish();
}

const Dataflow kStaggered = {"staggered", "O of a row block behind C of the next", run, kRowParameters};
ATTNVP_DATAFLOW(kStaggered);

}  // namespace

}  // namespace attnvp::firmware
