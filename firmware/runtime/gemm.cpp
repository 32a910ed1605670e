#include "firmware/runtime/gemm.h"

namespace attnvp::firmware {

namespace parameter {
namespace {
const Parameter kDepth = {"kd", "depth that is loaded at a time", Extent::kDepth, Grain::kOne};
const Parameter kStreamRing = {"kv",     "tiles in L1 of what streams by", Extent::kCount, Grain::kOne, 16, nullptr,
                               {2, 3, 1}};
}  // namespace
}  // namespace parameter

using namespace parameter;
const Parameter* const kGemmParameters[] = {&kNq, &kNkv, &kDepth, &kM0, &kN0, &kK0, &kStreamRing, nullptr};

}  // namespace attnvp::firmware
