// Conversions of tensor element types (formats: firmware/hal/element_types.h). Every conversion rounds once, to nearest
// even.
//
// P with one byte per element is relative to its row's maximum M: e^(S - M) in FP16 (online.h), times kept_one(type),
// rounded again. P needs no scale in memory, since the result is divided by the sum of the stored P.
#pragma once

#include <cstddef>
#include <cstdint>

#include "firmware/hal/descriptor.h"
#include "models/arith/half.h"

namespace attnvp::arith {

using hal::ElementType;

float float_from_bf16(std::uint16_t bits);
std::uint16_t bf16_from_float(float value);
// Floating-point formats of at most a byte, from its lowest bit on.
float float_from_byte(ElementType type, std::uint8_t bits);
std::uint8_t byte_from_float(ElementType type, float value);
std::int8_t int8_from_float(float value);
// Powers of two; others become the next lower one.
float float_from_e8m0(std::uint8_t bits);
std::uint8_t e8m0_from_float(float value);

// n contiguous elements of a tensor's type; those that share a byte begin with its lowest bits. in and out must not
// overlap.
void floats_from(ElementType type, const void* in, float* out, std::size_t n);
void from_floats(ElementType type, const float* in, void* out, std::size_t n);

using hal::is_relative;
constexpr float kept_one(ElementType type) { return hal::info_of(type).one; }  // stored value of P = 1

// Converts a row of P from FP16, normalised or relative to the row's maximum as the type requires, to the type.
void narrow_row(const Half* p, ElementType type, void* out, std::size_t n);

// A row of n weights (hal::Opcode::kDequantise) times the scales of its groups: the product is FP32, rounded once to
// `out_type`. `first`: position of the row's first element in its group. The scales of the row are `stride` bytes
// apart.
struct GroupScales {
  const unsigned char* scales;
  std::size_t stride;
  ElementType type;
  std::size_t group, first;  // group 0: one scale for the row
};
void dequantise_row(ElementType type, const void* in, const GroupScales& scales, ElementType out_type, void* out,
                    std::size_t n);

// A row of n numbers times a factor (hal::Opcode::kConvert): the product is FP32, rounded once to the type.
void convert_row(const Half* x, float factor, ElementType type, void* out, std::size_t n);

// Rounding error bound of a type: a part `relative` of the value, or `least`.
struct Rounding {
  double relative, least;
};
constexpr Rounding rounding_of(ElementType type) {
  const hal::ElementTypeInfo& info = hal::info_of(type);
  if (hal::is_integer(type)) return {0, 0.5};
  const auto half_to_the = [](int exponent) {
    double power = 1;
    for (int i = 0; i < exponent; ++i) power /= 2;
    return power;
  };
  const int bias = (1 << (info.exponent_bits - 1)) - 1;
  return {half_to_the(info.mantissa_bits + 1), half_to_the(bias + info.mantissa_bits)};
}

}  // namespace attnvp::arith
