// Element types of operands: the table of their names, formats and roles. A new type needs a value of ElementType, its
// size in element_bits() and a row of kElementTypes. Floating-point formats of at most a byte are converted by the
// row's fields (models/arith/number.h).
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
  kInt4 = 8,
  kFp4E2M1 = 9,
  kE8M0 = 10,
};

// A switch, because control processors without caches would load a table over the bus.
constexpr std::uint32_t element_bits(ElementType type) {
  switch (type) {
    case ElementType::kInt4:
    case ElementType::kFp4E2M1:
      return 4;
    case ElementType::kFp8E4M3:
    case ElementType::kFp8E5M2:
    case ElementType::kInt8:
    case ElementType::kE8M0:
      return 8;
    case ElementType::kFp16:
    case ElementType::kBf16:
      return 16;
    case ElementType::kInt32:
    case ElementType::kFp32:
      return 32;
    case ElementType::kNone:
      break;
  }
  return 0;
}
// 0 for types of which several share a byte.
constexpr std::uint32_t element_bytes(ElementType type) { return element_bits(type) / 8; }
// Bytes of consecutive elements. Elements that share a byte lie from its lowest bits on.
constexpr std::uint64_t bytes_of(ElementType type, std::uint64_t elements) {
  return (elements * element_bits(type) + 7) / 8;
}

// Meaning of the greatest exponent.
enum class Specials : std::uint8_t {
  kIeee,  // infinities and NaN
  kNan,   // numbers; NaN where all other bits are set, too
  kNone,  // numbers
};

struct ElementTypeInfo {
  ElementType type;
  const char* name;
  std::uint8_t exponent_bits, mantissa_bits;  // below the sign bit; no exponent: two's complement; no mantissa: no sign
  Specials specials;
  bool is_tensor;      // allowed for Q, K, V and P: MAC engines multiply it
  bool is_rounded_to;  // allowed for O and for results of MAC engines
  bool in_rtl;         // supported by the RTL of the VEC engine
  bool is_weight;      // allowed for weights that VEC engines convert
  ElementType sums;    // type of its products' sums
  std::uint16_t one;   // value stored for P = 1; one-byte types store P relative to its row's maximum
  const char* about;
};

inline constexpr ElementTypeInfo kElementTypes[] = {
    {ElementType::kNone, "no type", 0, 0, Specials::kNone, false, false, false, false, ElementType::kNone, 1,
     "the operand is not used"},
    {ElementType::kFp16, "fp16", 5, 10, Specials::kIeee, true, true, true, false, ElementType::kFp32, 1, "IEEE 754"},
    {ElementType::kBf16, "bf16", 8, 7, Specials::kIeee, true, true, false, false, ElementType::kFp32, 1,
     "the upper half of FP32"},
    {ElementType::kFp8E4M3, "fp8_e4m3", 4, 3, Specials::kNan, true, false, false, true, ElementType::kFp32, 256,
     "OCP 8-bit: at most 448, which greater finite numbers become; an infinity becomes NaN"},
    {ElementType::kFp8E5M2, "fp8_e5m2", 5, 2, Specials::kIeee, true, false, false, false, ElementType::kFp32, 256,
     "OCP 8-bit: at most 57344, which greater finite numbers become"},
    {ElementType::kInt8, "int8", 0, 7, Specials::kNone, true, false, false, true, ElementType::kInt32, 127,
     "-127 to 127, saturated; NaN becomes 0"},
    {ElementType::kInt32, "int32", 0, 31, Specials::kNone, false, false, false, false, ElementType::kInt32, 1,
     "sums of products of INT8"},
    {ElementType::kFp32, "fp32", 8, 23, Specials::kIeee, false, false, true, false, ElementType::kFp32, 1,
     "IEEE 754: sums"},
    {ElementType::kInt4, "int4", 0, 3, Specials::kNone, false, false, false, true, ElementType::kNone, 1,
     "-8 to 7, two in a byte"},
    {ElementType::kFp4E2M1, "fp4_e2m1", 2, 1, Specials::kNone, false, false, false, true, ElementType::kNone, 1,
     "OCP 4-bit, two in a byte: at most 6, which greater numbers become"},
    {ElementType::kE8M0, "e8m0", 8, 0, Specials::kNan, false, false, false, false, ElementType::kNone, 1,
     "OCP scale: a power of two"},
};
inline constexpr std::uint32_t kElementTypeCount = sizeof kElementTypes / sizeof kElementTypes[0];

constexpr const ElementTypeInfo& info_of(ElementType type) {
  const auto i = static_cast<std::uint32_t>(type);
  return kElementTypes[i < kElementTypeCount ? i : 0];
}

constexpr bool is_integer(ElementType type) { return type != ElementType::kNone && info_of(type).exponent_bits == 0; }
// True for one-byte types: P is stored relative to its row's maximum.
constexpr bool is_relative(ElementType type) { return element_bytes(type) == 1; }

// Default element type of O.
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
