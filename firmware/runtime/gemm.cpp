#include "firmware/runtime/gemm.h"

namespace attnvp::firmware {

namespace parameter {
namespace {
const Parameter kDepth = {"kd", "depth that is loaded at a time", Extent::kDepth, Grain::kOne};
const Parameter kStreamRing = {"kv",     "tiles in L1 of what streams by", Extent::kCount, Grain::kOne, 16, nullptr,
                               {2, 3, 1}};
}  // namespace
}  // namespace parameter

const DataflowOption kStepOptions[] = {kStepKernelsOption, {nullptr, nullptr, nullptr}};

void launch(Runtime& rt) {
  for (uint32_t i = 0; rt.ok() && !rt.dry() && i < rt.job().option[0]; ++i) dispatch(rt, hal::kKernel);
}

void check_step_channels(Runtime& rt) {
  if (rt.ok() && rt.machine().dma_channels < 2) rt.fail(Status::kTooFewChannels, 2, rt.machine().dma_channels);
}

using namespace parameter;
const Parameter* const kGemmParameters[] = {&kNq, &kNkv, &kDepth, &kM0, &kN0, &kK0, &kStreamRing, nullptr};

}  // namespace attnvp::firmware
