// Expressions over named quantities with their units: "l1.size * clusters <= 8 MiB", "2 * cores + 1", "N + 16".
//
//   or, and, not          conditions
//   = == != < <= > >=     of two numbers of the same dimension, or (the first three) of two texts
//   + - * / %             of numbers; sums and remainders of the same dimension
//   min(a, b) max(a, b) floor(a) ceil(a) round(a)
//   8 MiB, 30 GB/s, 20 ns, 3.75 GHz, 0.5, 'text'     and names such as l1.size
//
// Dimensions are checked when the text is read, before any value is known. The text becomes a program for a stack of
// values, so that neither reading nor computing nests, however long or deep it is; both have limits.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "platform/config/error.h"
#include "platform/expression/dimension.h"

namespace attnvp::expression {

enum class Kind : std::uint8_t { kNumber, kText, kCondition };

struct Symbol {
  Kind kind = Kind::kNumber;
  Dimension dimension;  // of a number
};
using Symbols = std::map<std::string, Symbol>;

using Quantity = std::variant<double, std::string, bool>;  // numbers in base units: bytes, seconds, pJ
using Values = std::function<Quantity(const std::string& name)>;

inline constexpr std::size_t kMostSteps = 200000;         // values and operators
inline constexpr std::size_t kDeepest = 1000;             // parentheses and the like within each other
inline constexpr double kLargestWhole = (1LL << 53) - 1;  // beyond it whole numbers may be rounded

// How numbers are computed with.
enum class Numbers : std::uint8_t {
  kReal,
  kWhole,  // every value is a whole number up to kLargestWhole, and division rounds down; what is not is an error
};

// clang-format off
enum class Operation : std::uint8_t {
  kNumber, kText, kName,                                                    // put a value on the stack
  kNegative, kNot, kFloor, kCeil, kRound,                                   // of one
  kOr, kAnd, kEqual, kUnequal, kLess, kLessEqual, kGreater, kGreaterEqual,  // of two
  kAdd, kSubtract, kMultiply, kDivide, kRemainder, kMin, kMax
};
// clang-format on

struct Step {
  Operation operation = Operation::kNumber;
  std::uint32_t text = 0;  // of kText and kName: its place in Program::texts
  double number = 0;       // of kNumber
};

struct Program {
  std::vector<Step> steps;
  std::vector<std::string> texts;
  Symbol type;  // of the result
};

class Expression {
 public:
  // Throws ConfigError at `origin` for a mistake in form, an unknown name, or dimensions that do not go together.
  static Expression parse(std::string_view text, const Symbols& symbols, const config::Origin& origin,
                          Numbers numbers = Numbers::kReal);
  // The same, and the result must be a condition or a number.
  static Expression condition(std::string_view text, const Symbols& symbols, const config::Origin& origin);
  static Expression number(std::string_view text, const Symbols& symbols, const config::Origin& origin,
                           Numbers numbers = Numbers::kReal);

  const std::string& text() const { return text_; }
  const Symbol& type() const { return program_.type; }

  // `values` is asked for names of `symbols` only, and answers in their kind. With whole numbers both throw ConfigError
  // at `origin`: out of range, division by a number that is not positive.
  bool holds(const Values& values) const { return std::get<bool>(run(values)); }
  double value(const Values& values) const { return std::get<double>(run(values)); }

 private:
  Quantity run(const Values& values) const;

  std::string text_;
  config::Origin origin_;
  Numbers numbers_ = Numbers::kReal;
  Program program_;
};

// A whole number of graph files, such as "max(2, N/2)". Throws ConfigError at `origin`.
std::int64_t whole_number(std::string_view text, const std::map<std::string, std::int64_t>& variables,
                          const config::Origin& origin);

}  // namespace attnvp::expression
