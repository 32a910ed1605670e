// Checks that every engine applies to a descriptor before it uses its fields.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "firmware/hal/descriptor.h"
#include "models/sim/fault.h"

namespace attnvp {

// Reason why a descriptor is refused; kNone: accepted.
struct Refusal {
  FaultCode code = FaultCode::kNone;
  std::uint64_t address = 0;
  std::string detail;
  bool any() const { return code != FaultCode::kNone; }
};

// Checks version and length; with kForwarded, that the result can bypass L1.
Refusal check_header(const hal::Descriptor& descriptor);
// Checks that an opcode's fields, which end at byte `end`, are within the length.
Refusal check_length(const hal::Descriptor& descriptor, std::size_t end);
Refusal check_opcode(const hal::Descriptor& descriptor, hal::Unit unit);
// Checks element type and columns of operand `i` against the table of operations.
Refusal check_operand(const hal::Descriptor& descriptor, int i);
// The first refusal of operands 0 to `count` - 1.
Refusal check_operands(const hal::Descriptor& descriptor, int count);
// The same, for the given element types and rows of `columns` elements.
Refusal check_operand(const hal::Descriptor& descriptor, int i, std::uint64_t columns,
                      std::initializer_list<hal::ElementType> types);

std::string name_of(hal::ElementType type);

}  // namespace attnvp
