#include "platform/trace/reason.h"

namespace attnvp::trace {

namespace {

const char* const kTensors[] = {"data", "Q", "K", "V", "C", "P", "O", "partial results", "bias"};

std::string producer(const StallReason& cause) {
  if (cause.by == kLoadOperation) {
    if (cause.tag == kTagOfL2) return "data from L2";
    return std::string(kTensors[cause.tag]) + " from DRAM";
  }
  const Made made = made_by(cause.by);
  if (made.what == nullptr) return "order";
  if (made.unit == hal::Unit::kDma) return std::string(made.what) + " in DRAM";
  return std::string(made.what) + " from " + hal::name_of(made.unit);
}

}  // namespace

std::string reason(const StallReason& cause) {
  switch (cause.kind) {
    case StallReason::kProcessor:
      return "processor";
    case StallReason::kFill:
      return "fill";
    case StallReason::kDrain:
      return "drain";
    case StallReason::kOperand:
      return producer(cause);
    case StallReason::kSpace:
      return "space";
    case StallReason::kOrder:
    case StallReason::kPending:
      break;
  }
  return "order";
}

}  // namespace attnvp::trace
