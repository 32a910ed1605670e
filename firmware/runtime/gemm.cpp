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

void SharedSlots::wait(Command& load, uint32_t users, uint32_t part, uint32_t tokens) const {
  const bool was_full = (full_ >> (slots_ - 1) & 1) != 0;  // the tile that the slot has
  uint32_t since = users == cores_ ? 1 : 0;                // tiles of all cores from the next one on, this one included
  for (uint32_t i = 0; i + 1 < slots_; ++i) since += full_ >> i & 1;
  const uint32_t more = was_full && part == 0 ? (slots_ - since) * parts_ : 0;
  if (more == 0) {
    load.after({free_.first, users}, tokens);
    return;
  }
  const Events rest{free_.first + least_, cores_ - least_};
  load.after({free_.first, least_}, tokens).after(rest, more + (users == cores_ ? tokens : 0)).then(rest, more);
}

using namespace parameter;
const Parameter* const kGemmParameters[] = {&kNq, &kNkv, &kDepth, &kM0, &kN0, &kK0, &kStreamRing, nullptr};

}  // namespace attnvp::firmware
