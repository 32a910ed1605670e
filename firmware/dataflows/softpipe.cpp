// Soft-Pipe: C = Q K^T pipelined with softmax, P goes to DRAM; when all of P is there, O = P V. VEC works on the rows
// of one block while MAC computes the next.
#include "firmware/dataflows/dataflows.h"
#include "firmware/runtime/attention.h"
#include "firmware/runtime/loads.h"
#include "firmware/runtime/unfused.h"

namespace attnvp::firmware {

namespace {

hal::Tiling run(Runtime& rt) {
  Demand demand;
  demand.kv_tensors = 1;    // K for the first half, V for the second
  demand.score_blocks = 3;  // C_i beside P_{i-1} beside what is being stored (or: loaded, used)
  demand.mac_vec_overlap = true;
  demand.score_tokens = true;
  demand.dram_scores = 2;
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
      attention.produce_c(k, i, loads);  // C_i = Q_i K^T
      attention.produce_p(i);            // P_i = softmax(C_i)
      attention.store_p(i);
    }
    attention.finish();
    rt.free_to(mark);
  }
  o_from_dram(rt, work, attention, tiling, demand);
  return tiling;
}

}  // namespace

extern const Dataflow kSoftpipe = {"softpipe", "Soft-Pipe: QK^T pipelined with softmax, P by way of DRAM, then PV",
                                   nullptr, hal::kScoresP, run};

}  // namespace attnvp::firmware
