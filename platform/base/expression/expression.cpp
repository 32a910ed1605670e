#include "platform/base/expression/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "platform/machine/words.h"
#include "platform/report/table.h"

namespace attnvp::expression {

namespace {

using O = OperatorCode;

double divided(double a, double b, Numbers numbers) {
  if (numbers == Numbers::kReal) return a / b;
  const double remainder = std::fmod(a, b);  // exact, so the quotient is exact
  return (a - remainder) / b - (remainder < 0 ? 1 : 0);
}

double of_numbers(O operation, double a, double b, Numbers numbers) {
  switch (operation) {
    case O::kAdd:
      return a + b;
    case O::kSubtract:
      return a - b;
    case O::kMultiply:
      return a * b;
    case O::kDivide:
      return divided(a, b, numbers);
    case O::kRemainder:
      return std::fmod(a, b);
    case O::kMin:
      return std::min(a, b);
    default:
      return std::max(a, b);
  }
}

bool of_conditions(O operation, const Quantity& a, const Quantity& b) {
  switch (operation) {
    case O::kOr:
      return std::get<bool>(a) || std::get<bool>(b);
    case O::kAnd:
      return std::get<bool>(a) && std::get<bool>(b);
    case O::kEqual:
      return a == b;
    case O::kUnequal:
      return a != b;
    case O::kLess:
      return a < b;
    case O::kLessEqual:
      return a <= b;
    case O::kGreater:
      return a > b;
    default:
      return a >= b;
  }
}

Quantity of_one(O operation, const Quantity& a) {
  switch (operation) {
    case O::kNot:
      return !std::get<bool>(a);
    case O::kNegative:
      return -std::get<double>(a);
    case O::kFloor:
      return std::floor(std::get<double>(a));
    case O::kCeil:
      return std::ceil(std::get<double>(a));
    default:
      return std::round(std::get<double>(a));
  }
}

}  // namespace

Quantity Expression::run(const Values& values) const {
  std::vector<Quantity> stack;
  for (const Instruction& step : program_.steps) {
    const O operation = step.operation;
    if (operation == O::kNumber) {
      stack.emplace_back(step.number);
    } else if (operation == O::kText) {
      stack.emplace_back(program_.texts[step.text]);
    } else if (operation == O::kName) {
      stack.push_back(values(program_.texts[step.text]));
    } else if (operation < O::kOr) {
      stack.back() = of_one(operation, stack.back());
    } else {
      const Quantity b = std::move(stack.back());
      stack.pop_back();
      Quantity& a = stack.back();
      if (operation < O::kAdd) {
        a = of_conditions(operation, a, b);
        continue;
      }
      const double x = std::get<double>(a), y = std::get<double>(b);
      const bool divides = operation == O::kDivide || operation == O::kRemainder;
      if (numbers_ == Numbers::kWhole && divides && y <= 0) {
        refuse(text_, origin_, "it divides by a number that is not positive");
      }
      const double result = of_numbers(operation, x, y, numbers_);
      if (numbers_ == Numbers::kWhole && std::abs(result) > kLargestWhole) {
        refuse(text_, origin_, "its value is out of range");
      }
      a = result;
    }
  }
  return std::move(stack.back());
}

Expression Expression::parse(std::string_view text, const Symbols& symbols, const config::Origin& origin,
                             Numbers numbers) {
  Expression e;
  e.program_ = parse_program(text, symbols, origin, numbers);
  e.text_ = text;
  e.origin_ = origin;
  e.numbers_ = numbers;
  return e;
}

Expression Expression::condition(std::string_view text, const Symbols& symbols, const config::Origin& origin) {
  Expression e = parse(text, symbols, origin);
  if (e.type().kind != QuantityKind::kCondition) {
    refuse(text, origin, fmt::format("found {}, allowed is a condition such as l1.size <= 8 MiB", kind_text(e.type())));
  }
  return e;
}

Expression Expression::number(std::string_view text, const Symbols& symbols, const config::Origin& origin,
                              Numbers numbers) {
  Expression e = parse(text, symbols, origin, numbers);
  if (e.type().kind != QuantityKind::kNumber) {
    refuse(text, origin, fmt::format("found {}, allowed is a number", kind_text(e.type())));
  }
  return e;
}

std::int64_t whole_number(std::string_view text, const std::map<std::string, std::int64_t>& variables,
                          const config::Origin& origin) {
  Symbols symbols;
  for (const auto& [name, value] : variables) symbols[name] = {};
  const Expression e = Expression::number(text, symbols, origin, Numbers::kWhole);
  if (e.type().dimension != Dimension{}) {
    refuse(text, origin, fmt::format("found {}, allowed is a plain number", kind_text(e.type())));
  }
  return static_cast<std::int64_t>(
      e.value([&](const std::string& name) { return static_cast<double>(variables.at(name)); }));
}

Dimension dimension_of(config::KeyUnit unit) {
  switch (unit) {
    case config::KeyUnit::kCount:
    case config::KeyUnit::kCycles:
      return {};
    case config::KeyUnit::kBytes:
    case config::KeyUnit::kBytesPerCycle:  // cycles are a plain number
      return {1, 0, 0};
    case config::KeyUnit::kFrequency:
      return {0, -1, 0};
    case config::KeyUnit::kBandwidth:
      return {1, -1, 0};
    case config::KeyUnit::kTime:
      return {0, 1, 0};
    case config::KeyUnit::kEnergy:
      return {0, 0, 1};
    case config::KeyUnit::kVoltage:  // a plain number in expressions
      return {};
    case config::KeyUnit::kPower:  // its base unit is the watt: see parser.cpp
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
