#include "platform/base/expression/dimension.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "platform/report/table.h"

namespace attnvp::expression {

Dimension dimension_of(config::Unit unit) {
  switch (unit) {
    case config::Unit::kCount:
    case config::Unit::kCycles:
      return {};
    case config::Unit::kBytes:
    case config::Unit::kBytesPerCycle:  // cycles are a plain number
      return {1, 0, 0};
    case config::Unit::kFrequency:
      return {0, -1, 0};
    case config::Unit::kBandwidth:
      return {1, -1, 0};
    case config::Unit::kTime:
      return {0, 1, 0};
    case config::Unit::kEnergy:
      return {0, 0, 1};
    case config::Unit::kVoltage:  // a plain number in expressions
      return {};
    case config::Unit::kPower:  // its base unit is the watt: see parser.cpp
      return {0, -1, 1};
  }
  return {};
}

std::string to_string(const Dimension& d) {
  std::string over, under;
  const auto part = [&](const char* name, int exponent) {
    std::string& side = exponent > 0 ? over : under;
    for (int i = 0; i < std::abs(exponent); ++i) side += (side.empty() ? "" : "*") + std::string(name);
  };
  part("bytes", d.bytes);
  part("s", d.seconds);
  part("pJ", d.picojoules);
  if (over.empty() && under.empty()) return "a plain number";
  return (over.empty() ? "1" : over) + (under.empty() ? "" : "/" + under);
}

std::string shown(double value, const Dimension& d) {
  if (d == Dimension{1, 0, 0}) return report::with_prefix(value, "B");
  if (d == Dimension{1, -1, 0}) return report::with_prefix(value, "B/s");
  if (d == Dimension{0, -1, 0}) return report::with_prefix(value, "Hz");
  if (d == Dimension{0, 1, 0}) return report::with_prefix(value, "s");
  if (d == Dimension{0, 0, 1}) return report::with_prefix(value * 1e-12, "J");
  const bool whole = value == std::floor(value) && value >= 0;
  if ((whole || value >= 1000) && value < 1e15) return report::with_commas(std::llround(value));
  return fmt::format("{:.4g}", value);
}

}  // namespace attnvp::expression
