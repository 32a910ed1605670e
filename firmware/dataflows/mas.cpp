// MAS-Attention (Algorithm 1): softmax of one row block runs on VEC while MAC multiplies for the blocks around it.
// The two streams go on across heads; they are filled once and drained once.
#include "firmware/dataflows/dataflows.h"
#include "firmware/dataflows/mas_overwrite.h"
#include "firmware/runtime/two_streams.h"

namespace attnvp::firmware {

namespace {

const char* const kOffOn[] = {"off", "on", nullptr};
const DataflowOption kOptions[] = {
    {"overwrite", kOffOn, "P has space of its own, and K or V give way to it where there is none (section 4.3)"},
    {nullptr, nullptr, nullptr}};

hal::Tiling run(Runtime& rt) {
  if (rt.job().option[0] == 1) return run_mas_overwrite(rt);
  const hal::Tiling tiling = choose_tiling(rt, two_streams_demand());
  if (rt.ok()) run_two_streams(rt, tiling);
  return tiling;
}

}  // namespace

extern const Dataflow kMas = {"mas", "MAS-Attention: MAC and VEC streams side by side, never drained between heads",
                              kOptions, hal::kScoresOnChip, run};

}  // namespace attnvp::firmware
