// Operations of descriptors as waveforms, timelines and messages name them: the variants of the table of operations
// (firmware/hal/operations.h). The two matrix products and the two directions of a copy are distinct.
#pragma once

#include <cstdint>

#include "firmware/hal/descriptor.h"

namespace attnvp {

// 0: none; then the variants in the table's order; the last value: unknown.
enum class Operation : std::uint8_t { kNone = 0 };

constexpr int variants_of(const hal::OperationInfo& info) { return info.variants == hal::Variants::kOne ? 1 : 2; }
constexpr Operation traced(hal::Opcode opcode, int variant = 0) {
  int index = 1;
  for (const hal::OperationInfo& info : hal::kOperations) {
    if (info.opcode == opcode) return static_cast<Operation>(index + variant);
    index += variants_of(info);
  }
  return static_cast<Operation>(index);
}
constexpr Operation kUnknownOperation = traced(static_cast<hal::Opcode>(0xFF));
constexpr Operation kLoadOperation = traced(hal::Opcode::kCopy, 0);

// Indexed by Operation, ends with nullptr.
extern const char* const* const kOperationNames;

Operation operation_of(const hal::Descriptor& descriptor);
inline const char* name_of(Operation operation) { return kOperationNames[static_cast<std::uint8_t>(operation)]; }
// Operand that an operation produces ("P"; nullptr: undefined), and the unit that produces it.
struct Made {
  const char* what = nullptr;
  hal::Unit unit = hal::Unit::kAny;
};
Made made_by(Operation operation);

}  // namespace attnvp
