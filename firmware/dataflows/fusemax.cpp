// FuseMax: one pass over K and V. The two-dimensional array computes exponentials and row sums on the PEs that hold the
// scores; the one-dimensional array computes running maxima, scales and sums. binding=interleaved overlaps steps of
// different tiles (the paper's +Binding); binding=serial does not (+Architecture). For `cascade` (+Cascade), and if PEs
// only multiply, the vector engine computes all of the softmax.
#include "firmware/runtime/attention/online_attention.h"

namespace attnvp::firmware {

namespace {

const char* const kBindings[] = {"interleaved", "serial", nullptr};
const char* const kSums[] = {"l1", "fusemax", nullptr};
const DataflowOption kOptions[] = {
    {"binding", kBindings, "steps of different tiles overlap on the arrays, or do not"},
    {"sums", kSums, "a tile's sums go to the vector engine by way of L1, or into its registers, as the paper has it"},
    {nullptr, nullptr, nullptr}};

void run(Runtime& rt, bool in_array) {
  OnlinePlan plan = plan_online(rt, in_array, rt.job().option[0] == 1);
  plan.forwarded = rt.job().option[1] == 1;
  if (!rt.ok()) return;
  OnlineAttention attention(rt, plan);
  attention.run();
}

void run_fusemax(Runtime& rt) { run(rt, true); }
void run_cascade(Runtime& rt) { run(rt, false); }

const Dataflow kFusemax = {"fusemax",          "FuseMax: one-pass softmax on the matrix array and the vector engine",
                           run_fusemax,        kOnlineParameters,
                           kOptions,           nullptr,
                           hal::kScoresOnChip, kOnePass | kHeterogeneousCores};
ATTNVP_DATAFLOW(kFusemax);
const Dataflow kCascade = {"cascade",          "FuseMax's one-pass cascade with all of softmax on the vector engine",
                           run_cascade,        kOnlineParameters,
                           kOptions,           nullptr,
                           hal::kScoresOnChip, kOnePass | kHeterogeneousCores};
ATTNVP_DATAFLOW(kCascade);

}  // namespace

}  // namespace attnvp::firmware
