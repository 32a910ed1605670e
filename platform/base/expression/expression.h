// Expressions over named quantities with their units: "l1.size * clusters <= 8 MiB", "2 * cores + 1", "N + 16".
//
//   or, and, not          conditions
//   = == != < <= > >=     of two numbers of the same dimension, or (the first three) of two texts
//   + - * / %             of numbers; sums and remainders of the same dimension
//   min(a, b) max(a, b) floor(a) ceil(a) round(a)
//   8 MiB, 30 GB/s, 20 ns, 3.75 GHz, 0.5, 'text'     and names such as l1.size
//
// Dimensions are checked by the parser, before values are known. The text is compiled to a program for a stack machine,
// so parsing and evaluation use no recursion; program length and nesting are limited.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "platform/machine/error.h"
#include "platform/machine/words.h"

namespace attnvp::expression {

// Dimension of a quantity: a product of powers of bytes, seconds and picojoules.
struct Dimension {  // exponents; all 0: a plain number
  int bytes = 0, seconds = 0, picojoules = 0;
  bool operator==(const Dimension& o) const {
    return bytes == o.bytes && seconds == o.seconds && picojoules == o.picojoules;
  }
  bool operator!=(const Dimension& o) const { return !(*this == o); }
};
Dimension dimension_of(config::KeyUnit unit);
std::string to_string(const Dimension& dimension);  // "a plain number", "bytes", "bytes/s"
// Value with a suitable prefix: "5.24 MB", "211 us", "12.0 mJ", "792,163".
std::string shown(double value, const Dimension& dimension);

enum class QuantityKind : std::uint8_t { kNumber, kText, kCondition };

struct Symbol {
  QuantityKind kind = QuantityKind::kNumber;
  Dimension dimension;  // of a number
};
using Symbols = std::map<std::string, Symbol>;

using Quantity = std::variant<double, std::string, bool>;  // numbers in base units: bytes, seconds, pJ
using Values = std::function<Quantity(const std::string& name)>;

inline constexpr std::size_t kMostSteps = 200000;         // values and operators
inline constexpr std::size_t kDeepest = 1000;             // nesting of parentheses and functions
inline constexpr double kLargestWhole = (1LL << 53) - 1;  // larger whole numbers may be rounded

// Arithmetic of numbers.
enum class Numbers : std::uint8_t {
  kReal,
  kWhole,  // values are whole numbers up to kLargestWhole; division rounds down; other values are errors
};

// clang-format off
enum class OperatorCode : std::uint8_t {
  kNumber, kText, kName, // push a value
  kNegative, kNot, kFloor, kCeil, kRound, // unary
  kOr, kAnd, kEqual, kUnequal, kLess, kLessEqual, kGreater, kGreaterEqual, // binary
  kAdd, kSubtract, kMultiply, kDivide, kRemainder, kMin, kMax
};
// clang-format on

struct Instruction {
  OperatorCode operation = OperatorCode::kNumber;
  std::uint32_t text = 0;  // kText and kName: index in Program::texts
  double number = 0;       // kNumber
};

struct Program {
  std::vector<Instruction> steps;
  std::vector<std::string> texts;
  Symbol type;  // of the result
};

class Expression {
 public:
  // Throws ConfigError at `origin` for a syntax error, an unknown name, or dimensions that do not match.
  static Expression parse(std::string_view text, const Symbols& symbols, const config::Origin& origin,
                          Numbers numbers = Numbers::kReal);
  // As parse(), for a result that must be a condition or a number.
  static Expression condition(std::string_view text, const Symbols& symbols, const config::Origin& origin);
  static Expression number(std::string_view text, const Symbols& symbols, const config::Origin& origin,
                           Numbers numbers = Numbers::kReal);

  const std::string& text() const { return text_; }
  const Symbol& type() const { return program_.type; }

  // `values` is called for names of `symbols` and returns values of their kind. With kWhole both throw ConfigError at
  // `origin`: out of range, division by a number that is not positive.
  bool holds(const Values& values) const { return std::get<bool>(run(values)); }
  double value(const Values& values) const { return std::get<double>(run(values)); }

 private:
  Quantity run(const Values& values) const;

  std::string text_;
  config::Origin origin_;
  Numbers numbers_ = Numbers::kReal;
  Program program_;
};

// A whole number in a graph file, such as "max(2, N/2)". Throws ConfigError at `origin`.
std::int64_t whole_number(std::string_view text, const std::map<std::string, std::int64_t>& variables,
                          const config::Origin& origin);

// Parser of expressions: text to program. Throws ConfigError at `origin`.
Program parse_program(std::string_view text, const Symbols& symbols, const config::Origin& origin, Numbers numbers);

// Throws "expression 'a <': ..." at `origin`, which may be empty.
[[noreturn]] void refuse(std::string_view text, const config::Origin& origin, const std::string& what);

std::string kind_text(const Symbol& symbol);  // "bytes", "a text", "a condition"

}  // namespace attnvp::expression
