// Numbers of the element types that tensors have (firmware/hal/descriptor.h), each a few bits of memory. Every
// conversion to one of them rounds once, to nearest even.
//
//   BF16       the upper half of FP32; beyond its greatest, infinite
//   FP8 E4M3   OCP: no infinities, one NaN (0x7F), at most 448; what is greater becomes 448, an infinity NaN
//   FP8 E5M2   OCP: infinities and NaN; at most 57344, which finite numbers beyond it become
//   INT8       -127 .. 127, saturated; NaN is 0
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
float float_from_e4m3(std::uint8_t bits);
std::uint8_t e4m3_from_float(float value);
float float_from_e5m2(std::uint8_t bits);
std::uint8_t e5m2_from_float(float value);
std::int8_t int8_from_float(float value);

// Of FP16, BF16, FP8 and INT8: n elements one behind the other. No overlap of in and out.
void floats_from(ElementType type, const void* in, float* out, std::size_t n);
void from_floats(ElementType type, const float* in, void* out, std::size_t n);

constexpr bool is_relative(ElementType type) { return hal::element_bytes(type) == 1; }  // P in that type
// What a P of 1 is kept as.
constexpr float kept_one(ElementType type) {
  return type == ElementType::kInt8 ? 127.0F : is_relative(type) ? 256.0F : 1.0F;
}

// P of a row: FP16 numbers, normalised or relative to the row's maximum as the type wants them, rounded to the type.
void narrow_row(const Half* p, ElementType type, void* out, std::size_t n);

// What rounding to the type loses of a number: at most a part `relative` of it, or `least`.
struct Rounding {
  double relative, least;
};
constexpr Rounding rounding_of(ElementType type) {
  switch (type) {
    case ElementType::kBf16:
      return {0x1p-8, 0x1p-134};
    case ElementType::kFp8E4M3:
      return {0x1p-4, 0x1p-10};
    case ElementType::kFp8E5M2:
      return {0x1p-3, 0x1p-17};
    case ElementType::kInt8:
      return {0, 0.5};
    default:
      return {0x1p-11, 0x1p-25};  // FP16
  }
}

}  // namespace attnvp::arith
