// What every engine asks of a descriptor before it believes its fields.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "firmware/hal/descriptor.h"
#include "models/fault.h"

namespace attnvp {

// Why a descriptor cannot be done; code kNone: it can.
struct Refusal {
  FaultCode code = FaultCode::kNone;
  std::uint64_t address = 0;
  std::string detail;
  bool any() const { return code != FaultCode::kNone; }
};

// Version and length, and whether it has a result that may pass L1 by, where one is to (kForwarded).
Refusal check_header(const hal::Descriptor& descriptor);
// An opcode's fields that end at byte `end` must be within the length.
Refusal check_length(const hal::Descriptor& descriptor, std::size_t end);
// The operation is one of the unit's.
Refusal check_opcode(const hal::Descriptor& descriptor, hal::Unit unit);
// Operand i: of an element type and columns that the table of operations gives it.
Refusal check_operand(const hal::Descriptor& descriptor, int i);
// The same for one of these element types, in rows of `columns` elements.
Refusal check_operand(const hal::Descriptor& descriptor, int i, std::uint64_t columns,
                      std::initializer_list<hal::ElementType> types);

std::string name_of(hal::ElementType type);

}  // namespace attnvp
