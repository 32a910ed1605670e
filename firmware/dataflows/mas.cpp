// MAS-Attention (Algorithm 1): VEC engines compute softmax of one row block while MAC engines multiply for its
// neighbours. The pipeline runs across heads, so that it is filled and drained once. The proactive overwrite (section
// 4.3) is used where a tiling exceeds L1 and costs nothing otherwise.
#include "firmware/dataflows/mas_overwrite.h"
#include "firmware/runtime/attention/row_pipelines.h"

namespace attnvp::firmware {

namespace {

enum Overwrite : uint32_t { kAuto, kOff, kOn };
const char* const kOverwrite[] = {"auto", "off", "on", nullptr};
const DataflowOption kOptions[] = {{"overwrite", kOverwrite,
                                    "K or V give way to P (section 4.3); auto: where L1 has no space for the tiling "
                                    "with P in the place of C; off: such "
                                    "tilings are refused; on: where it has none for P beside C, as the paper draws it"},
                                   {nullptr, nullptr, nullptr}};

const Statistic kStatistics[] = {{"overwrites.count", "times that K or V gave way to P"},
                                 {"overwrites.reload_bytes", "loaded again for that"},
                                 {"overwrites.k", "of K"},
                                 {"overwrites.v", "of V"},
                                 {nullptr, nullptr}};

void run(Runtime& rt) {
  const auto tiling = rt.parameters<RowTiling>();
  if (!rt.ok()) return;
  const auto overwrite = static_cast<Overwrite>(rt.job().option[0]);
  const Work work(rt, tiling);
  const auto build = [&] { TwoStreams(rt, work, tiling); };
  if (overwrite != kOn && !can_overwrite(tiling)) {  // overwrite is not possible
    TwoStreams streams(rt, work, tiling);
    if (rt.ok()) return streams.run();
    return rt.tell_need_of(build);
  }
  uint64_t need = rt.need_of(build);
  if (overwrite == kOn && !rt.is_heterogeneous()) need += rt.cores() * score_block_bytes(rt, tiling);
  const uint64_t l1_bytes = rt.machine().l1_bytes;
  const bool may_guard = overwrite != kOff && can_overwrite(tiling) && !rt.is_heterogeneous();
  const bool guarded = may_guard && (need > l1_bytes || l1_bytes == hal::kEndlessL1);
  if (guarded) {
    run_mas_overwrite(rt, work, tiling);
  } else if (rt.has_space(need)) {
    TwoStreams(rt, work, tiling).run();
  }
}

const Dataflow kMas = {"mas",
                       "MAS-Attention: MAC and VEC streams side by side, never drained between heads",
                       run,
                       kRowParameters,
                       kOptions,
                       kStatistics,
                       hal::kScoresOnChip,
                       kHeterogeneousCores};
ATTNVP_DATAFLOW(kMas);

}  // namespace

}  // namespace attnvp::firmware
