#include "platform/trace/reason.h"

namespace attnvp::trace {

namespace {

const char* const kTensors[] = {"data", "Q", "K", "V", "C", "P", "O", "partial results", "bias"};

std::string producer(const Cause& cause) {
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

std::string reason(const Cause& cause) {
  switch (cause.kind) {
    case Cause::kProcessor:
      return "processor";
    case Cause::kFill:
      return "fill";
    case Cause::kDrain:
      return "drain";
    case Cause::kOperand:
      return producer(cause);
    case Cause::kSpace:
      return "space";
    case Cause::kOrder:
    case Cause::kPending:
      break;
  }
  return "order";
}

}  // namespace attnvp::trace
