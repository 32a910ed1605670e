// FLAT: all three operators fused on chip, row block by row block, one after the other. With prefetch=on the loads of
// the next blocks and the stores run behind the computation, with prefetch=off transfers and computation take turns.
#include "firmware/dataflows/dataflows.h"
#include "firmware/runtime/attention.h"
#include "firmware/runtime/loads.h"
#include "firmware/runtime/two_streams.h"

namespace attnvp::firmware {

namespace {

const char* const kOnOff[] = {"on", "off", nullptr};
const char* const kOverlap[] = {"auto", "off", "on", nullptr};
const DataflowOption kOptions[] = {{"prefetch", kOnOff, "loads and stores overlap with computation"},
                                   {"overlap", kOverlap,
                                    "softmax of one row block beside the matmuls of others: FuseMax's authors assume "
                                    "it, MAS-Attention's do not; auto: where softmax takes longer than the matmuls"},
                                   {nullptr, nullptr, nullptr}};

hal::Tiling run(Runtime& rt) {
  const bool prefetch = rt.job().option[0] == 0;
  const hal::MachineInfo& m = rt.machine();
  const uint32_t overlap = rt.job().option[1];
  if (prefetch && (overlap == 2 || (overlap == 0 && vec_bound(m.mac_rows, m.mac_columns, m.softmax_rate_1024)))) {
    return run_two_streams(rt);
  }
  Demand demand;
  demand.dram_overlap = prefetch;
  const hal::Tiling tiling = choose_tiling(rt, demand);
  if (!rt.ok()) return tiling;

  const Work work(rt, tiling);
  Attention attention(rt, work, tiling, demand);
  KvBuffer k(rt, work, tiling, rt.layer().k, kLoadChannel);
  KvBuffer v(rt, work, tiling, rt.layer().v, kLoadChannel);
  Loads loads(rt, work, attention, &Attention::load_q, &k, &v, {0, prefetch, tiling.row_buffers});
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
  return tiling;
}

}  // namespace

extern const Dataflow kFlat = {"flat", "FLAT: fused on chip, operators one after the other", kOptions,
                               hal::kScoresOnChip, run};

}  // namespace attnvp::firmware
