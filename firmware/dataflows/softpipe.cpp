// Soft-Pipe: C = Q K^T pipelined with softmax, P stored to DRAM; after all of P, O = P V. VEC engines process the rows
// of one block while MAC engines compute the next.
#include "firmware/runtime/attention/attention.h"
#include "firmware/runtime/attention/row_pipelines.h"
#include "firmware/runtime/loads.h"

namespace attnvp::firmware {

namespace {

void run(Runtime& rt) {
  const auto tiling = rt.parameters<RowTiling>();
  const ScoreBlocks scores{3, true};  // C_i, P_{i-1}, and one being stored (or: loaded, used)
  if (!rt.ok()) return;
  const Work work(rt, tiling);
  AttentionSteps attention(rt, work, tiling, scores);
  const uint64_t mark = rt.allocated();
  check_space_of_v(rt, work, tiling);
  {
    KvBuffer k(rt, work, tiling, rt.layer().k, kLoadChannel);
    Loads loads(rt, work, attention, &AttentionSteps::load_q, &k, nullptr, {0, true, tiling.row_buffers});
    for (Work::Round i = work.first(); rt.ok() && i.valid; i = work.after(i)) {
      loads.need_for_c();
      attention.produce_c(k, i, loads);  // C_i = Q_i K^T
      attention.produce_p(i);            // P_i = softmax(C_i)
      attention.store_p(i);
    }
    attention.finish(k);
    rt.free_to(mark);
  }
  o_from_dram(rt, work, attention, tiling, scores);
}

const Dataflow kSoftpipe = {"softpipe",   "Soft-Pipe: QK^T pipelined with softmax, P by way of DRAM, then PV",
                            run,          kRowParameters,
                            nullptr,      nullptr,
                            hal::kScoresP};
ATTNVP_DATAFLOW(kSoftpipe);

}  // namespace

}  // namespace attnvp::firmware
