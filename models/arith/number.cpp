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

// Floating-point format of at most a byte, by its row of the table.
template <std::size_t kType>
struct ByteFormat {
  static constexpr const hal::ElementTypeInfo& kInfo = hal::kElementTypes[kType];
  static constexpr int kMantissa = kInfo.mantissa_bits, kBias = (1 << (kInfo.exponent_bits - 1)) - 1;
  static constexpr std::uint32_t kSign = 1U << (kInfo.exponent_bits + kMantissa);
  static constexpr std::uint32_t kInfinity = kSign - (1U << kMantissa);  // for kIeee
  static constexpr std::uint32_t kGreatest = kInfo.specials == hal::Specials::kIeee  ? kInfinity - 1
                                             : kInfo.specials == hal::Specials::kNan ? kSign - 2
                                                                                     : kSign - 1;

  static float widen(std::uint8_t bits) {
    const std::uint32_t magnitude = bits & (kSign - 1);
    const bool negative = (bits & kSign) != 0;
    if (kInfo.specials == hal::Specials::kIeee && magnitude == kInfinity) {
      return float_of(kInfinityBits | (negative ? 0x8000'0000U : 0U));
    }
    if (magnitude > kGreatest) return float_of(0x7FC0'0000);
    const int exponent = static_cast<int>(magnitude >> kMantissa), fraction = magnitude & ((1 << kMantissa) - 1);
    const int significand = exponent == 0 ? fraction : fraction | 1 << kMantissa;
    const float value = std::ldexp(static_cast<float>(significand), std::max(exponent, 1) - kBias - kMantissa);
    return negative ? -value : value;
  }

  static std::uint8_t narrow(float value) {
    const bool is_nan = std::isnan(value);
    if (is_nan && kInfo.specials == hal::Specials::kNone) return 0;
    const std::uint32_t sign = std::signbit(value) && !is_nan ? kSign : 0;
    std::uint32_t magnitude = kGreatest;
    if (std::isfinite(value)) {
      magnitude = std::min(finite(value), kGreatest);
    } else if (kInfo.specials == hal::Specials::kNan) {
      magnitude = kSign - 1;
    } else if (kInfo.specials == hal::Specials::kIeee) {
      magnitude = is_nan ? kInfinity + (1U << (kMantissa - 1)) : kInfinity;
    }
    return static_cast<std::uint8_t>(sign | magnitude);
  }

 private:
  // Magnitude bits of a finite number; may exceed the greatest number of the format.
  static std::uint32_t finite(float value) {
    const std::uint32_t magnitude = bits_of(value) & 0x7FFF'FFFF;
    const int exponent = static_cast<int>(magnitude >> 23) - 127;
    constexpr int kLeast = 1 - kBias;  // exponent of the least normal number
    if (exponent < kLeast) {           // in units of the least subnormal number
      const float units = std::ldexp(float_of(magnitude), kMantissa - kLeast);
      return static_cast<std::uint32_t>(std::nearbyint(units));
    }
    constexpr int kLost = 23 - kMantissa;
    const std::uint32_t rounded = magnitude + (1U << (kLost - 1)) - 1 + ((magnitude >> kLost) & 1);
    return (rounded >> kLost) - ((127 - kBias) << kMantissa);
  }
};

constexpr bool is_byte_format(std::size_t type) {
  const hal::ElementTypeInfo& info = hal::kElementTypes[type];
  return hal::element_bits(info.type) <= 8 && info.exponent_bits > 0 && info.mantissa_bits > 0;
}

// Calls visit(ByteFormat) for a floating-point type of at most a byte; false for other types.
template <std::size_t kType = 0, typename Visit>
bool with_format(ElementType type, const Visit& visit) {
  if constexpr (kType < hal::kElementTypeCount) {
    if constexpr (is_byte_format(kType)) {
      if (static_cast<std::size_t>(type) == kType) {
        visit(ByteFormat<kType>());
        return true;
      }
    }
    return with_format<kType + 1>(type, visit);
  } else {
    return false;
  }
}

template <typename Format>
const std::array<float, 256>& table_of() {
  static const std::array<float, 256> kTable = [] {
    std::array<float, 256> table{};
    for (unsigned i = 0; i < table.size(); ++i) table[i] = Format::widen(static_cast<std::uint8_t>(i));
    return table;
  }();
  return kTable;
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

// Elements of four bits, two in a byte.
constexpr std::uint8_t kNibble = 15;
std::uint8_t nibble_of(const void* in, std::size_t i) {
  return static_cast<const std::uint8_t*>(in)[i / 2] >> (i % 2 * 4) & kNibble;
}
float float_from_nibble(ElementType type, std::uint8_t bits) {
  if (type == ElementType::kInt4) return static_cast<float>((bits ^ 8) - 8);
  return float_from_byte(type, bits);
}
std::uint8_t nibble_from_float(ElementType type, float value) {
  if (type != ElementType::kInt4) return byte_from_float(type, value);
  const float fit = std::isnan(value) ? 0 : std::nearbyint(std::clamp(value, -8.0F, 7.0F));
  return static_cast<std::uint8_t>(static_cast<int>(fit)) & kNibble;
}

}  // namespace

float float_from_e8m0(std::uint8_t bits) {
  return bits == 0xFF ? float_of(0x7FC0'0000) : std::ldexp(1.0F, int{bits} - 127);
}

std::uint8_t e8m0_from_float(float value) {
  if (!std::isfinite(value) || value < 0) return 0xFF;
  return static_cast<std::uint8_t>(std::max(value > 0 ? std::ilogb(value) + 127 : 0, 0));
}

float float_from_bf16(std::uint16_t bits) { return float_of(std::uint32_t{bits} << 16); }

std::uint16_t bf16_from_float(float value) {
  if (std::isnan(value)) return 0x7FC0;
  const std::uint32_t bits = bits_of(value);
  return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

float float_from_byte(ElementType type, std::uint8_t bits) {
  float value = 0;
  with_format(type, [&](auto format) { value = decltype(format)::widen(bits); });
  return value;
}

std::uint8_t byte_from_float(ElementType type, float value) {
  std::uint8_t bits = 0;
  with_format(type, [&](auto format) { bits = decltype(format)::narrow(value); });
  return bits;
}

std::int8_t int8_from_float(float value) {
  if (std::isnan(value)) return 0;
  return static_cast<std::int8_t>(std::nearbyint(std::clamp(value, -127.0F, 127.0F)));
}

void floats_from(ElementType type, const void* in, float* out, std::size_t n) {
  if (hal::element_bits(type) == 4) {
    std::array<float, 16> table{};
    for (std::uint8_t i = 0; i < table.size(); ++i) table[i] = float_from_nibble(type, i);
    for (std::size_t i = 0; i < n; ++i) out[i] = table[nibble_of(in, i)];
    return;
  }
  const bool is_done = with_format(type, [&](auto format) {
    const auto& table = table_of<decltype(format)>();
    convert<std::uint8_t>(in, out, n, [&table](std::uint8_t bits) { return table[bits]; });
  });
  if (is_done) return;
  switch (type) {
    case ElementType::kBf16:
      return convert<std::uint16_t>(in, out, n, float_from_bf16);
    case ElementType::kInt8:
      return convert<std::int8_t>(in, out, n, [](std::int8_t b) { return static_cast<float>(b); });
    case ElementType::kE8M0:
      return convert<std::uint8_t>(in, out, n, float_from_e8m0);
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
  if (hal::element_bits(type) == 4) {
    auto* to = static_cast<std::uint8_t*>(out);
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint8_t bits = nibble_from_float(type, in[i]);
      to[i / 2] = i % 2 == 0 ? bits : static_cast<std::uint8_t>(to[i / 2] | bits << 4);
    }
    return;
  }
  const bool is_done =
      with_format(type, [&](auto format) { convert<std::uint8_t>(in, out, n, decltype(format)::narrow); });
  if (is_done) return;
  switch (type) {
    case ElementType::kBf16:
      return convert<std::uint16_t>(in, out, n, bf16_from_float);
    case ElementType::kInt8:
      return convert<std::int8_t>(in, out, n, int8_from_float);
    case ElementType::kE8M0:
      return convert<std::uint8_t>(in, out, n, e8m0_from_float);
    default:
      return halves_from_floats(in, static_cast<Half*>(out), n);
  }
}

void dequantise_row(ElementType type, const void* in, const GroupScales& s, ElementType out_type, void* out,
                    std::size_t n) {
  std::vector<float> row(n);
  floats_from(type, in, row.data(), n);
  for (std::size_t at = 0, group = 0; at < n; ++group) {
    const std::size_t end = s.group == 0 ? n : std::min(n, (group + 1) * s.group - s.first);
    float scale = 0;
    floats_from(s.type, s.scales + group * s.stride, &scale, 1);
    for (; at < end; ++at) row[at] *= scale;
  }
  from_floats(out_type, row.data(), out, n);
}

void convert_row(const Half* x, float factor, ElementType type, void* out, std::size_t n) {
  std::vector<float> row(n);
  floats_from_halves(x, row.data(), n);
  for (float& value : row) value *= factor;
  from_floats(type, row.data(), out, n);
}

}  // namespace attnvp::arith
