#include "platform/trace/reason.h"

namespace attnvp::trace {

namespace {

const char* const kTensors[] = {"data", "Q", "K", "V", "C", "P", "O", "partial results", "bias"};

std::string producer(const Cause& cause) {
  switch (cause.by) {
    case Operation::kLoad:
      if (cause.tag == kTagOfL2) return "data from L2";
      return std::string(kTensors[cause.tag]) + " from DRAM";
    case Operation::kStore:
      return "scores in DRAM";
    case Operation::kMatmulAbt:
      return "C from MAC";
    case Operation::kMatmulAb:
      return "O from MAC";
    case Operation::kSoftmax:
    case Operation::kOnlineSoftmax:
      return "P from VEC";
    case Operation::kOnlineMax:
      return "running max from VEC";
    case Operation::kScaleAdd:
    case Operation::kRescale:
      return "sums from VEC";
    case Operation::kDivide:
      return "O from VEC";
    case Operation::kScoreTile:
      return "row maxima from MAC";
    case Operation::kAttendTile:
      return "sums from MAC";
    case Operation::kNorm:
    case Operation::kAdd:
    case Operation::kActivate:
    case Operation::kRotate:
      return "rows from VEC";
    case Operation::kNone:
    case Operation::kNop:
    case Operation::kUnknown:
      break;
  }
  return "order";
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
