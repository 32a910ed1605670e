// Element types of operands: the one table of their names, formats and roles. A new type is a value of ElementType, its
// bytes, and a row of kElementTypes; floating-point formats of one byte are converted by what the row says
// (models/arith/number.h).
#pragma once

#include <cstdint>

namespace attnvp::hal {

enum class ElementType : std::uint8_t {
  kNone = 0,  // the operand is not used
  kFp16 = 1,
  kBf16 = 2,
  kFp8E4M3 = 3,
  kFp8E5M2 = 4,
  kInt8 = 5,
  kInt32 = 6,
  kFp32 = 7,
};

// A switch: control processors without caches do without tables.
constexpr std::uint32_t element_bytes(ElementType type) {
  switch (type) {
    case ElementType::kFp8E4M3:
    case ElementType::kFp8E5M2:
    case ElementType::kInt8:
      return 1;
    case ElementType::kFp16:
    case ElementType::kBf16:
      return 2;
    case ElementType::kInt32:
    case ElementType::kFp32:
      return 4;
    case ElementType::kNone:
      break;
  }
  return 0;
}

// What the greatest exponent stands for.
enum class Specials : std::uint8_t {
  kIeee,  // infinities and NaN
  kNan,   // numbers, and NaN where all other bits are set, too
  kNone,  // numbers
};

struct ElementTypeInfo {
  ElementType type;
  const char* name;
  std::uint8_t exponent_bits, mantissa_bits;  // behind a sign, from bit 0 on; no exponent: two's complement
  Specials specials;
  bool is_tensor;      // Q, K, V and P may have it: MAC multiplies it
  bool is_rounded_to;  // O may have it, and results of MAC
  bool in_rtl;         // the RTL of VEC reads and writes it
  ElementType sums;    // what products of it add up to
  std::uint16_t one;   // what a P of 1 is kept as: of one byte relative to its row's maximum, otherwise 1
  const char* about;
};

inline constexpr ElementTypeInfo kElementTypes[] = {
    {ElementType::kNone, "no type", 0, 0, Specials::kNone, false, false, false, ElementType::kNone, 1,
     "the operand is not used"},
    {ElementType::kFp16, "fp16", 5, 10, Specials::kIeee, true, true, true, ElementType::kFp32, 1, "IEEE 754"},
    {ElementType::kBf16, "bf16", 8, 7, Specials::kIeee, true, true, false, ElementType::kFp32, 1,
     "the upper half of FP32"},
    {ElementType::kFp8E4M3, "fp8_e4m3", 4, 3, Specials::kNan, true, false, false, ElementType::kFp32, 256,
     "OCP 8-bit: at most 448, which greater finite numbers become; an infinity becomes NaN"},
    {ElementType::kFp8E5M2, "fp8_e5m2", 5, 2, Specials::kIeee, true, false, false, ElementType::kFp32, 256,
     "OCP 8-bit: at most 57344, which greater finite numbers become"},
    {ElementType::kInt8, "int8", 0, 7, Specials::kNone, true, false, false, ElementType::kInt32, 127,
     "-127 to 127, saturated; NaN becomes 0"},
    {ElementType::kInt32, "int32", 0, 31, Specials::kNone, false, false, false, ElementType::kInt32, 1,
     "sums of products of INT8"},
    {ElementType::kFp32, "fp32", 8, 23, Specials::kIeee, false, false, true, ElementType::kFp32, 1, "IEEE 754: sums"},
};
inline constexpr std::uint32_t kElementTypeCount = sizeof kElementTypes / sizeof kElementTypes[0];

constexpr const ElementTypeInfo& info_of(ElementType type) {
  const auto i = static_cast<std::uint32_t>(type);
  return kElementTypes[i < kElementTypeCount ? i : 0];
}

constexpr bool is_integer(ElementType type) { return type != ElementType::kNone && info_of(type).exponent_bits == 0; }
// Of one byte: P in that type is relative to its row's maximum.
constexpr bool is_relative(ElementType type) { return element_bytes(type) == 1; }

// Of O, where nothing else is said.
constexpr ElementType type_of_output(ElementType type) {
  return info_of(type).is_rounded_to ? type : ElementType::kFp16;
}

constexpr bool rows_are_in_order() {
  for (std::uint32_t i = 0; i < kElementTypeCount; ++i) {
    if (static_cast<std::uint32_t>(kElementTypes[i].type) != i) return false;
  }
  return true;
}
static_assert(rows_are_in_order(), "a type's row is at its value");

}  // namespace attnvp::hal
