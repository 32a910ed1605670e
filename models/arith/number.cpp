#include "models/arith/number.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

namespace attnvp::arith {

namespace {

constexpr std::uint32_t kInfinityBits = 0x7F80'0000;

std::uint32_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

float float_of(std::uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// A byte of sign, exponent and `kMantissa` bits; kBias of the exponent.
template <int kMantissa, int kBias>
float widen(std::uint8_t bits) {
  const int exponent = (bits & 0x7F) >> kMantissa, fraction = bits & ((1 << kMantissa) - 1);
  const int significand = exponent == 0 ? fraction : fraction | 1 << kMantissa;
  const float magnitude = std::ldexp(static_cast<float>(significand), std::max(exponent, 1) - kBias - kMantissa);
  return (bits & 0x80) != 0 ? -magnitude : magnitude;
}

// The bits of a finite number's magnitude; they may go beyond those of the greatest.
template <int kMantissa, int kBias>
std::uint32_t narrow(float value) {
  const std::uint32_t magnitude = bits_of(value) & 0x7FFF'FFFF;
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  constexpr int kLeast = 1 - kBias;  // exponent of the least normal number
  if (exponent < kLeast) {           // in units of the least subnormal one
    const float units = std::ldexp(float_of(magnitude), kMantissa - kLeast);
    return static_cast<std::uint32_t>(std::nearbyint(units));
  }
  constexpr int kLost = 23 - kMantissa;
  const std::uint32_t rounded = magnitude + (1U << (kLost - 1)) - 1 + ((magnitude >> kLost) & 1);
  return (rounded >> kLost) - ((127 - kBias) << kMantissa);
}

using Table = std::array<float, 256>;
Table table_of(float (*value)(std::uint8_t)) {
  Table table{};
  for (unsigned i = 0; i < table.size(); ++i) table[i] = value(static_cast<std::uint8_t>(i));
  return table;
}

template <typename T, typename Value>
void convert(const void* in, float* out, std::size_t n, Value value) {
  const auto* from = static_cast<const T*>(in);
  for (std::size_t i = 0; i < n; ++i) out[i] = value(from[i]);
}
template <typename T, typename Value>
void convert(const float* in, void* out, std::size_t n, Value value) {
  auto* to = static_cast<T*>(out);
  for (std::size_t i = 0; i < n; ++i) to[i] = value(in[i]);
}

}  // namespace

float float_from_bf16(std::uint16_t bits) { return float_of(std::uint32_t{bits} << 16); }

std::uint16_t bf16_from_float(float value) {
  if (std::isnan(value)) return 0x7FC0;
  const std::uint32_t bits = bits_of(value);
  return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

float float_from_e4m3(std::uint8_t bits) { return (bits & 0x7F) == 0x7F ? float_of(0x7FC0'0000) : widen<3, 7>(bits); }

std::uint8_t e4m3_from_float(float value) {
  const bool finite = std::isfinite(value);
  const std::uint8_t sign = std::signbit(value) && !std::isnan(value) ? 0x80 : 0;
  return static_cast<std::uint8_t>(sign | (finite ? std::min(narrow<3, 7>(value), 0x7EU) : 0x7F));
}

float float_from_e5m2(std::uint8_t bits) {
  const std::uint32_t magnitude = bits & 0x7F;
  if (magnitude > 0x7C) return float_of(0x7FC0'0000);
  if (magnitude == 0x7C) return float_of(kInfinityBits | std::uint32_t{bits & 0x80U} << 24);
  return widen<2, 15>(bits);
}

std::uint8_t e5m2_from_float(float value) {
  if (std::isnan(value)) return 0x7E;
  const std::uint32_t magnitude = std::isinf(value) ? 0x7C : std::min(narrow<2, 15>(value), 0x7BU);
  return static_cast<std::uint8_t>((std::signbit(value) ? 0x80 : 0) | magnitude);
}

std::int8_t int8_from_float(float value) {
  if (std::isnan(value)) return 0;
  return static_cast<std::int8_t>(std::nearbyint(std::clamp(value, -127.0F, 127.0F)));
}

void floats_from(ElementType type, const void* in, float* out, std::size_t n) {
  static const Table kE4M3 = table_of(float_from_e4m3), kE5M2 = table_of(float_from_e5m2);
  switch (type) {
    case ElementType::kBf16:
      return convert<std::uint16_t>(in, out, n, float_from_bf16);
    case ElementType::kFp8E4M3:
      return convert<std::uint8_t>(in, out, n, [](std::uint8_t b) { return kE4M3[b]; });
    case ElementType::kFp8E5M2:
      return convert<std::uint8_t>(in, out, n, [](std::uint8_t b) { return kE5M2[b]; });
    case ElementType::kInt8:
      return convert<std::int8_t>(in, out, n, [](std::int8_t b) { return static_cast<float>(b); });
    default:
      return floats_from_halves(static_cast<const Half*>(in), out, n);
  }
}

void narrow_row(const Half* p, ElementType type, void* out, std::size_t n) {
  std::vector<float> row(n);
  floats_from_halves(p, row.data(), n);
  const float one = kept_one(type);
  for (float& x : row) x *= one;
  from_floats(type, row.data(), out, n);
}

void from_floats(ElementType type, const float* in, void* out, std::size_t n) {
  switch (type) {
    case ElementType::kBf16:
      return convert<std::uint16_t>(in, out, n, bf16_from_float);
    case ElementType::kFp8E4M3:
      return convert<std::uint8_t>(in, out, n, e4m3_from_float);
    case ElementType::kFp8E5M2:
      return convert<std::uint8_t>(in, out, n, e5m2_from_float);
    case ElementType::kInt8:
      return convert<std::int8_t>(in, out, n, int8_from_float);
    default:
      return halves_from_floats(in, static_cast<Half*>(out), n);
  }
}

}  // namespace attnvp::arith
