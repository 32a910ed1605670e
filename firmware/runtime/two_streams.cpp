#include "firmware/runtime/two_streams.h"

#include "firmware/runtime/attention.h"
#include "firmware/runtime/loads.h"

namespace attnvp::firmware {

void run_two_streams(Runtime& rt, const RowTiling& tiling) {
  const Work work(rt, tiling);
  Attention attention(rt, work, tiling, {2});  // P_i beside P_{i-1} or C_{i+1} (section 5.5)
  KvBuffer k(rt, work, tiling, rt.layer().k, kLoadChannel);
  KvBuffer v(rt, work, tiling, rt.layer().v, kLoadChannel);
  Loads loads(rt, work, attention, &Attention::load_q, &k, &v, {2, true, tiling.row_buffers});

  Work::Round i = work.first(), i_1, i_2;  // i, i-1, i-2
  while (rt.ok() && (i.valid || i_1.valid || i_2.valid)) {
    if (i_2.valid) {
      loads.need_for_o();
      attention.produce_o(v, i_2);  // O_{i-2} = P_{i-2} V
    }
    if (i_1.valid) attention.produce_p(i_1);  // P_{i-1} = softmax(C_{i-1})
    if (i.valid) {
      loads.need_for_c();
      attention.produce_c(k, i, loads);  // C_i = Q_i K^T
    }
    i_2 = i_1;
    i_1 = i;
    i = work.after(i);
  }
  attention.finish();
}

}  // namespace attnvp::firmware
