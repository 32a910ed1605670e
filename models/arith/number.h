// Numbers of the element types that tensors have (firmware/hal/element_types.h has the formats), each a few bits of
// memory. Every conversion to one of them rounds once, to nearest even.
//
// P of one byte an element is relative to its row's maximum M: e^(S - M) in FP16 (online.h), times kept_one(type),
// rounded again. So it needs no scale of its own in memory: whoever sums it up divides by the sum of P.
#pragma once

#include <cstddef>
#include <cstdint>

#include "firmware/hal/descriptor.h"
#include "models/arith/half.h"

namespace attnvp::arith {

using hal::ElementType;

float float_from_bf16(std::uint16_t bits);
std::uint16_t bf16_from_float(float value);
// Of a floating-point format of one byte.
float float_from_byte(ElementType type, std::uint8_t bits);
std::uint8_t byte_from_float(ElementType type, float value);
std::int8_t int8_from_float(float value);

// Of types of tensors: n elements one behind the other. No overlap of in and out.
void floats_from(ElementType type, const void* in, float* out, std::size_t n);
void from_floats(ElementType type, const float* in, void* out, std::size_t n);

using hal::is_relative;
constexpr float kept_one(ElementType type) { return hal::info_of(type).one; }  // what a P of 1 is kept as

// P of a row: FP16 numbers, normalised or relative to the row's maximum as the type wants them, rounded to the type.
void narrow_row(const Half* p, ElementType type, void* out, std::size_t n);

// What rounding to the type loses of a number: at most a part `relative` of it, or `least`.
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
