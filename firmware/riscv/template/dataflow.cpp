// @NAME@: a user-defined dataflow. It consists of a program that enqueues commands, and a declaration of its options
// and parameters. This one executes the three operators of a row block in sequence.
#include "firmware/runtime/attention/attention.h"
#include "firmware/runtime/loads.h"

namespace attnvp::firmware {

namespace {

const char* const kOnOff[] = {"on", "off", nullptr};
const DataflowOption kOptions[] = {{"prefetch", kOnOff, "loads and stores overlap with computation"},
                                   {nullptr, nullptr, nullptr}};
const Statistic kStatistics[] = {{"rounds", "rounds of row blocks"}, {nullptr, nullptr}};

void run(Runtime& rt) {
  const auto tiling = rt.parameters<RowTiling>();  // in the order of kRowParameters
  if (!rt.ok()) return;
  const bool prefetch = rt.job().option[0] == 0;
  const Work work(rt, tiling);                     // row blocks, distributed over cores and clusters
  AttentionSteps attention(rt, work, tiling, {});  // buffers and events
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
    rt.count(0, 1);
  }
  attention.finish();  // waits for the last store
}

const Dataflow kMine = {"@NAME@", "a dataflow of one's own", run, kRowParameters, kOptions, kStatistics};
ATTNVP_DATAFLOW(kMine);

}  // namespace

}  // namespace attnvp::firmware
