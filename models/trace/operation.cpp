#include "models/trace/operation.h"

#include "firmware/hal/registers.h"

namespace attnvp {

const char* const kOperationNames[] = {"idle",   "nop",      "matmul_abt", "matmul_ab",      "softmax",
                                       "load",   "store",    "online_max", "online_softmax", "scale_add",
                                       "divide", "rescale",  "score_tile", "attend_tile",    "norm",
                                       "add",    "activate", "rotate",     "unknown",        nullptr};

Operation operation_of(const hal::Descriptor& d) {
  const std::uint64_t from = d.operand[0].address, to = d.operand[1].address;
  switch (d.opcode) {
    case hal::Opcode::kNop:
      return Operation::kNop;
    case hal::Opcode::kMatmul:
      return (d.flags & hal::kTransposeB) != 0 ? Operation::kMatmulAbt : Operation::kMatmulAb;
    case hal::Opcode::kSoftmax:
      return Operation::kSoftmax;
    case hal::Opcode::kCopy:
      return to >= hal::kL1Base || (to >= hal::kL2Base && from < hal::kL2Base) ? Operation::kLoad : Operation::kStore;
    case hal::Opcode::kOnlineMax:
      return Operation::kOnlineMax;
    case hal::Opcode::kOnlineSoftmax:
      return Operation::kOnlineSoftmax;
    case hal::Opcode::kScaleAdd:
      return Operation::kScaleAdd;
    case hal::Opcode::kDivide:
      return Operation::kDivide;
    case hal::Opcode::kRescale:
      return Operation::kRescale;
    case hal::Opcode::kScoreTile:
      return Operation::kScoreTile;
    case hal::Opcode::kAttendTile:
      return Operation::kAttendTile;
    case hal::Opcode::kNorm:
      return Operation::kNorm;
    case hal::Opcode::kAdd:
      return Operation::kAdd;
    case hal::Opcode::kActivate:
      return Operation::kActivate;
    case hal::Opcode::kRotate:
      return Operation::kRotate;
  }
  return Operation::kUnknown;
}

}  // namespace attnvp
