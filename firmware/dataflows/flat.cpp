// FLAT: all three operators fused on chip, row block by row block, one after the other. With prefetch=on the loads of
// the next blocks and the stores run behind the computation, with prefetch=off transfers and computation take turns.
#include "firmware/dataflows/dataflows.h"
#include "firmware/runtime/attention.h"

namespace attnvp::firmware {

namespace {

const char* const kOnOff[] = {"on", "off", nullptr};
const DataflowOption kOptions[] = {{"prefetch", kOnOff, "loads and stores overlap with computation"},
                                   {nullptr, nullptr, nullptr}};

hal::Tiling run(Runtime& rt) {
  const bool prefetch = rt.job().option[0] == 0;
  Demand demand;
  demand.dram_overlap = prefetch;
  const hal::Tiling tiling = choose_tiling(rt, demand);
  if (!rt.ok()) return tiling;

  const Work work(rt, tiling);
  Attention attention(rt, work, tiling, demand);
  KeyValue kv(rt, work, tiling, kKvChannel);
  if (!prefetch) rt.lock_step();

  NoPrefetch none;
  Prefetcher& ahead = prefetch ? static_cast<Prefetcher&>(kv) : none;
  if (prefetch) attention.load_q(work.first());
  for (Work::Round i = work.first(); rt.ok() && i.valid; i = work.after(i)) {
    kv.need_k(i.group);
    attention.load_q(prefetch ? work.after(i) : i);
    attention.produce_c(kv.k, i, ahead);  // C_i = Q_i K^T
    attention.produce_p(i);               // P_i = softmax(C_i)
    kv.need_v(i.group);
    attention.produce_o(kv.v, i);  // O_i = P_i V
    ahead.pump(i.group + 1);
  }
  attention.finish();
  return tiling;
}

}  // namespace

extern const Dataflow kFlat = {"flat", "FLAT: fused on chip, operators one after the other", kOptions, false, run};

}  // namespace attnvp::firmware
