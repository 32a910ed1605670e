// Expressions over named quantities with their units: "l1.size * clusters <= 8 MiB", "2 * cores + 1".
//
//   or, and, not          conditions
//   = == != < <= > >=     of two numbers of the same dimension, or (the first three) of two texts
//   + - * / %             of numbers; sums and remainders of the same dimension
//   min(a, b) max(a, b) floor(a) ceil(a) round(a)
//   8 MiB, 30 GB/s, 20 ns, 3.75 GHz, 0.5, 'text'     and names such as l1.size
//
// Dimensions are checked when the text is read, before any value is known.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <variant>

#include "explore/sweep/dimension.h"
#include "platform/config/error.h"

namespace attnvp::explore {

enum class Kind : std::uint8_t { kNumber, kText, kCondition };

struct Symbol {
  Kind kind = Kind::kNumber;
  Dimension dimension;  // of a number
};
using Symbols = std::map<std::string, Symbol>;

using Quantity = std::variant<double, std::string, bool>;  // numbers in base units: bytes, seconds, pJ
using Values = std::function<Quantity(const std::string& name)>;

class Expression {
 public:
  // Throws ConfigError at `origin` for a mistake in form, an unknown name, or dimensions that do not go together.
  static Expression parse(const std::string& text, const Symbols& symbols, const config::Origin& origin);
  // The same, and the result must be a condition or a number.
  static Expression condition(const std::string& text, const Symbols& symbols, const config::Origin& origin);
  static Expression number(const std::string& text, const Symbols& symbols, const config::Origin& origin);

  const std::string& text() const { return text_; }
  const Symbol& type() const { return type_; }

  // `values` is asked for names of `symbols` only, and answers in their kind.
  bool holds(const Values& values) const { return std::get<bool>(evaluate_(values)); }
  double value(const Values& values) const { return std::get<double>(evaluate_(values)); }

 private:
  std::string text_;
  Symbol type_;
  std::function<Quantity(const Values&)> evaluate_;
};

}  // namespace attnvp::explore
