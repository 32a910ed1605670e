#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>
#include <vector>

#include "platform/machine/error.h"
#include "platform/machine/words.h"

namespace attnvp::config {
namespace {

// A unit is mantissa * 10^decimal * 2^binary of the base unit.
struct UnitName {
  std::string_view name;
  int decimal;
  int binary;
  bool listed = true;  // false: an alias that is accepted but not shown
};

const std::vector<UnitName>& unit_names(KeyUnit unit) {
  static const std::vector<UnitName> none;
  static const std::vector<UnitName> bytes = {
      {"B", 0, 0},  {"KiB", 0, 10}, {"MiB", 0, 20}, {"GiB", 0, 30}, {"TiB", 0, 40},
      {"KB", 3, 0}, {"MB", 6, 0},   {"GB", 9, 0},   {"TB", 12, 0},  {"kB", 3, 0, false},
  };
  static const std::vector<UnitName> bytes_per_cycle = {{"B/cycle", 0, 0}};
  static const std::vector<UnitName> frequency = {{"Hz", 0, 0}, {"kHz", 3, 0}, {"MHz", 6, 0}, {"GHz", 9, 0}};
  static const std::vector<UnitName> bandwidth = {
      {"B/s", 0, 0},  {"KiB/s", 0, 10}, {"MiB/s", 0, 20}, {"GiB/s", 0, 30}, {"TiB/s", 0, 40},
      {"KB/s", 3, 0}, {"MB/s", 6, 0},   {"GB/s", 9, 0},   {"TB/s", 12, 0},  {"kB/s", 3, 0, false},
  };
  static const std::vector<UnitName> time = {{"ps", -12, 0}, {"ns", -9, 0}, {"us", -6, 0}, {"ms", -3, 0}, {"s", 0, 0}};
  static const std::vector<UnitName> energy = {{"pJ", 0, 0}};
  static const std::vector<UnitName> voltage = {{"mV", -3, 0}, {"V", 0, 0}};
  static const std::vector<UnitName> power = {{"mW", -3, 0}, {"W", 0, 0}, {"kW", 3, 0}};
  switch (unit) {
    case KeyUnit::kCount:
    case KeyUnit::kCycles:
      break;
    case KeyUnit::kBytes:
      return bytes;
    case KeyUnit::kBytesPerCycle:
      return bytes_per_cycle;
    case KeyUnit::kFrequency:
      return frequency;
    case KeyUnit::kBandwidth:
      return bandwidth;
    case KeyUnit::kTime:
      return time;
    case KeyUnit::kEnergy:
      return energy;
    case KeyUnit::kVoltage:
      return voltage;
    case KeyUnit::kPower:
      return power;
  }
  return none;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Parts of "12.5e3 GB": mantissa "12.5", exponent 3, unit "GB".
struct Pieces {
  std::string mantissa;
  int exponent = 0;
  bool has_exponent = false;
  std::string_view unit;
};

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw ConfigError(fmt::format("found {}, {}", in_quotes(text), why));
}

std::string expectation(KeyUnit unit) {
  if (unit_names(unit).empty()) return "allowed is a plain whole number";
  return fmt::format("allowed is a number with one of the units {}", allowed_units(unit));
}

// `expected` gives the end of a refusal.
template <class Expectation>
Pieces split(std::string_view text, const Expectation& expected) {
  const std::string_view all = trimmed(text);
  if (all.size() > 1 && all[0] == '-' && (is_digit(all[1]) || all[1] == '.')) {
    refuse(text, "which is negative; " + expected());
  }
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t first = at;
    while (at < all.size() && is_digit(all[at])) ++at;
    return at - first;
  };
  const std::size_t whole = digits();
  if (whole == 0) refuse(text, "which is not a number; " + expected());
  if (at + 1 < all.size() && all[at] == '.' && is_digit(all[at + 1])) {
    ++at;
    digits();
  }
  Pieces pieces;
  pieces.mantissa = std::string(all.substr(0, at));
  // An 'e' is an exponent only before a number: "5 EiB" and "5e" contain units.
  if (at < all.size() && (all[at] == 'e' || all[at] == 'E')) {
    std::size_t number = at + 1;
    if (number + 1 < all.size() && all[number] == '+' && is_digit(all[number + 1])) ++number;
    const char* end = all.data() + all.size();
    const auto [stop, error] = std::from_chars(all.data() + number, end, pieces.exponent);
    if (stop != all.data() + number) {
      if (error != std::errc() || std::abs(pieces.exponent) > 400) refuse(text, "which is out of range; " + expected());
      pieces.has_exponent = true;
      at = static_cast<std::size_t>(stop - all.data());
    }
  }
  pieces.unit = trimmed(all.substr(at));
  return pieces;
}

// Nearest double to mantissa * 10^exponent. The exponent is part of the text, so the value is rounded once.
std::optional<double> to_double(const std::string& mantissa, int exponent) {
  const std::string text = fmt::format("{}e{}", mantissa, exponent);
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

const UnitName& find_unit(KeyUnit unit, std::string_view text, std::string_view name) {
  if (name.empty()) refuse(text, "which has no unit; allowed units: " + allowed_units(unit));
  for (const UnitName& candidate : unit_names(unit)) {
    if (candidate.name == name) return candidate;
  }
  refuse(text, fmt::format("which has the unknown unit {}; allowed units: {}", in_quotes(name), allowed_units(unit)));
}

double parse_with_unit(KeyUnit unit, std::string_view text) {
  const Pieces pieces = split(text, [unit] { return expectation(unit); });
  const UnitName& name = find_unit(unit, text, pieces.unit);
  const std::optional<double> value = to_double(pieces.mantissa, pieces.exponent + name.decimal);
  const double scaled = value ? std::ldexp(*value, name.binary) : 0;
  if (!value || !std::isfinite(scaled)) refuse(text, "which is out of range; " + expectation(unit));
  return scaled;
}

constexpr double kLargestExact = 9007199254740992.0;  // 2^53: larger whole numbers may have been rounded

// Shortest decimal digits of the value, with the decimal point moved by `decimal` places, halved `binary` times.
std::string number_text(double value, const UnitName& unit) {
  std::array<char, 512> buffer{};
  char* const last = buffer.data() + buffer.size();
  value = std::ldexp(value, -unit.binary);
  const auto scientific = std::to_chars(buffer.data(), last, value, std::chars_format::scientific);
  const std::string_view digits(buffer.data(), static_cast<std::size_t>(scientific.ptr - buffer.data()));
  const std::size_t e = digits.find('e');
  std::string_view exponent_text = digits.substr(e + 1);
  if (exponent_text[0] == '+') exponent_text.remove_prefix(1);
  int exponent = 0;
  std::from_chars(exponent_text.data(), exponent_text.data() + exponent_text.size(), exponent);
  const std::optional<double> moved = to_double(std::string(digits.substr(0, e)), exponent - unit.decimal);
  if (!moved) return {};
  const auto fixed = std::to_chars(buffer.data(), last, *moved, std::chars_format::fixed);
  if (fixed.ec != std::errc()) return {};
  return std::string(buffer.data(), static_cast<std::size_t>(fixed.ptr - buffer.data()));
}

}  // namespace

std::string unit_meaning(KeyUnit unit) {
  switch (unit) {
    case KeyUnit::kCount:
      return "count";
    case KeyUnit::kCycles:
      return "cycles";
    case KeyUnit::kBytes:
      return "bytes";
    case KeyUnit::kBytesPerCycle:
      return "bytes per cycle";
    case KeyUnit::kFrequency:
      return "frequency";
    case KeyUnit::kBandwidth:
      return "bandwidth";
    case KeyUnit::kTime:
      return "time";
    case KeyUnit::kEnergy:
      return "energy";
    case KeyUnit::kVoltage:
      return "voltage";
    case KeyUnit::kPower:
      return "power";
  }
  return {};
}

std::string allowed_units(KeyUnit unit) {
  std::vector<std::string> names;
  for (const UnitName& name : unit_names(unit)) {
    if (name.listed) names.emplace_back(name.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::uint64_t parse_integer(KeyUnit unit, std::string_view text) {
  if (!unit_names(unit).empty()) {
    const double value = parse_with_unit(unit, text);
    if (value > kLargestExact) refuse(text, "which is out of range; " + expectation(unit));
    if (value != std::floor(value)) refuse(text, "which is not a whole number of bytes");
    return static_cast<std::uint64_t>(value);
  }
  const Pieces pieces = split(text, [unit] { return expectation(unit); });
  if (!pieces.unit.empty()) refuse(text, "which has a unit; " + expectation(unit));
  if (pieces.has_exponent || pieces.mantissa.find('.') != std::string::npos) {
    refuse(text, "which is not a plain whole number; " + expectation(unit));
  }
  std::uint64_t value = 0;
  const char* end = pieces.mantissa.data() + pieces.mantissa.size();
  if (std::from_chars(pieces.mantissa.data(), end, value).ec != std::errc()) {
    refuse(text, "which is out of range; " + expectation(unit));
  }
  return value;
}

double parse_real(KeyUnit unit, std::string_view text) {
  return is_integer(unit) ? static_cast<double>(parse_integer(unit, text)) : parse_with_unit(unit, text);
}

double parse_plain_real(std::string_view text) {
  const auto expected = [] { return std::string("allowed is a plain number, 0 or more"); };
  const Pieces pieces = split(text, expected);
  if (!pieces.unit.empty()) refuse(text, "which is not a plain number; " + expected());
  const std::optional<double> value = to_double(pieces.mantissa, pieces.exponent);
  if (!value) refuse(text, "which is out of range; " + expected());
  return *value;
}

std::string format_integer(KeyUnit unit, std::uint64_t value) {
  if (unit_names(unit).empty()) return std::to_string(value);
  if (value > static_cast<std::uint64_t>(kLargestExact)) {
    return fmt::format("{} {}", value, unit_names(unit).front().name);
  }
  return format_real(unit, static_cast<double>(value));
}

std::string format_real(KeyUnit unit, double value) {
  if (!std::isfinite(value) || value < 0) return fmt::format("{}", value);  // only in error messages
  std::string best;
  for (const UnitName& name : unit_names(unit)) {
    if (!name.listed) continue;
    const std::string number = number_text(value, name);
    if (number.empty()) continue;
    const std::string text = fmt::format("{} {}", number, name.name);
    if (parse_with_unit(unit, text) != value) continue;
    // "100 ns" is preferred over "0.1 us" of the same length.
    const bool below_one = number.size() > 1 && number[0] == '0';
    if (best.empty() || (text.size() <= best.size() && !below_one)) best = text;
  }
  return best;
}

}  // namespace attnvp::config
