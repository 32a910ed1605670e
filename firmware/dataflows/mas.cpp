// MAS-Attention (Algorithm 1): softmax of one row block runs on VEC while MAC multiplies for the blocks around it.
// The two streams go on across heads; they are filled once and drained once.
#include "firmware/dataflows/mas_overwrite.h"
#include "firmware/runtime/two_streams.h"

namespace attnvp::firmware {

namespace {

const char* const kOffOn[] = {"off", "on", nullptr};
const DataflowOption kOptions[] = {
    {"overwrite", kOffOn, "P has space of its own, and K or V give way to it where there is none (section 4.3)"},
    {nullptr, nullptr, nullptr}};

const Statistic kStatistics[] = {{"overwrites.count", "times that K or V gave way to P"},
                                 {"overwrites.reload_bytes", "loaded again for that"},
                                 {"overwrites.k", "of K"},
                                 {"overwrites.v", "of V"},
                                 {nullptr, nullptr}};

void run(Runtime& rt) {
  const auto tiling = rt.parameters<RowTiling>();
  if (!rt.ok()) return;
  if (rt.job().option[0] == 1) {
    if (rt.mask().any() || rt.scale() != 1) rt.refuse(RowTiling::kNq, tiling.nq);
    run_mas_overwrite(rt, tiling);
  } else {
    run_two_streams(rt, tiling);
  }
}

const Dataflow kMas = {"mas",
                       "MAS-Attention: MAC and VEC streams side by side, never drained between heads",
                       run,
                       kRowParameters,
                       kOptions,
                       kStatistics};
ATTNVP_DATAFLOW(kMas);

}  // namespace

}  // namespace attnvp::firmware
