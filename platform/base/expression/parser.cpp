#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "platform/base/expression/expression.h"
#include "platform/machine/words.h"

namespace attnvp::expression {

namespace {

using O = OperatorCode;

struct Operator {
  const char* text;
  O operation;
  int precedence;
};

// Binary operators; longer ones precede their prefixes.
constexpr Operator kOperators[] = {
    {"or", O::kOr, 1},        {"||", O::kOr, 1},           {"and", O::kAnd, 2},  {"&&", O::kAnd, 2},
    {"<=", O::kLessEqual, 4}, {">=", O::kGreaterEqual, 4}, {"==", O::kEqual, 4}, {"!=", O::kUnequal, 4},
    {"<", O::kLess, 4},       {">", O::kGreater, 4},       {"=", O::kEqual, 4},  {"+", O::kAdd, 5},
    {"-", O::kSubtract, 5},   {"*", O::kMultiply, 6},      {"/", O::kDivide, 6}, {"%", O::kRemainder, 6}};
constexpr Operator kNot = {"not", O::kNot, 3};
constexpr Operator kNegative = {"-", O::kNegative, 7};
constexpr int kComparison = 4;
constexpr Operator kFunctions[] = {
    {"min", O::kMin, 0}, {"max", O::kMax, 0}, {"floor", O::kFloor, 0}, {"ceil", O::kCeil, 0}, {"round", O::kRound, 0}};

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) { return is_name_start(c) || is_digit(c) || c == '.'; }

Dimension product(const Dimension& a, const Dimension& b, int sign) {
  return {a.bytes + sign * b.bytes, a.seconds + sign * b.seconds, a.picojoules + sign * b.picojoules};
}

// Units of numbers, longest names first: "GB/s" before "GB".
const std::vector<std::pair<std::string, config::KeyUnit>>& units() {
  static const auto all = [] {
    using config::KeyUnit;
    std::vector<std::pair<std::string, KeyUnit>> list;
    for (const KeyUnit unit : {KeyUnit::kBytes, KeyUnit::kBytesPerCycle, KeyUnit::kFrequency, KeyUnit::kBandwidth,
                               KeyUnit::kTime, KeyUnit::kEnergy}) {
      const std::string names = config::allowed_units(unit);
      for (std::size_t start = 0; start < names.size();) {
        const std::size_t comma = std::min(names.find(", ", start), names.size());
        list.emplace_back(names.substr(start, comma - start), unit);
        start = comma + 2;
      }
    }
    std::stable_sort(list.begin(), list.end(),
                     [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
    return list;
  }();
  return all;
}

// Shunting yard algorithm (Dijkstra): operators are stacked until one of lower precedence follows. A second stack holds
// the types of the values on the evaluation stack.
class Parser {
 public:
  Parser(std::string_view text, const Symbols& symbols, const config::Origin& origin, Numbers numbers)
      : text_(text), symbols_(symbols), origin_(origin), numbers_(numbers) {}

  Program all() {
    for (bool value_next = true;;) {
      skip();
      if (value_next) {
        value_next = !take_value();
      } else if (at_ == text_.size()) {
        break;
      } else {
        value_next = take_operator();
      }
    }
    while (!waiting_.empty()) {
      if (waiting_.back().opens) fail(fmt::format("found {} where ')' is expected", rest()));
      apply_last();
    }
    program_.type = types_.back();
    return std::move(program_);
  }

 private:
  struct PendingOperator {
    Operator with;
    bool opens = false;  // parenthesis, of a function or, without operator, of a group
    std::uint32_t commas = 0;
  };

  [[noreturn]] void fail(const std::string& what) const { refuse(text_, origin_, what); }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
  }
  std::string rest() const {
    return at_ < text_.size() ? config::in_quotes(text_.substr(at_)) : std::string("the end");
  }

  // Consumes an operator, or a word that is not the prefix of a name.
  bool take(std::string_view token) {
    skip();
    if (text_.substr(at_, token.size()) != token) return false;
    const std::size_t end = at_ + token.size();
    if (is_name_start(token[0]) && end < text_.size() && is_name(text_[end])) return false;
    at_ = end;
    return true;
  }

  void wait(const PendingOperator& waiting) {
    if (waiting_.size() >= kDeepest) fail("is nested too deeply");
    waiting_.push_back(waiting);
  }

  void emit(const Instruction& step, const Symbol& type) {
    if (program_.steps.size() >= kMostSteps) fail(fmt::format("has more than {} values and operators", kMostSteps));
    program_.steps.push_back(step);
    types_.push_back(type);
  }

  std::uint32_t text_number(std::string text) {
    program_.texts.push_back(std::move(text));
    return static_cast<std::uint32_t>(program_.texts.size() - 1);
  }

  void require(const Symbol& type, QuantityKind kind, const char* who) const {
    if (type.kind == kind) return;
    const char* wanted = kind == QuantityKind::kNumber ? "a number"
                         : kind == QuantityKind::kText ? "a text"
                                                       : "a condition";
    fail(fmt::format("{} needs {}, found {}", who, wanted, kind_text(type)));
  }
  void require_same(const Symbol& a, const Symbol& b, const char* who) const {
    if (a.kind == b.kind && a.dimension == b.dimension) return;
    fail(fmt::format("{} needs two of a kind, found {} and {}", who, kind_text(a), kind_text(b)));
  }

  // Checks the kinds of the operands; returns the type of the result.
  Symbol typed(const Operator& o, const Symbol& a, const Symbol& b) const {
    if (o.operation == O::kOr || o.operation == O::kAnd) {
      require(a, QuantityKind::kCondition, o.text);
      require(b, QuantityKind::kCondition, o.text);
      return a;
    }
    if (o.precedence == kComparison) {
      require_same(a, b, o.text);
      const bool equality = o.operation == O::kEqual || o.operation == O::kUnequal;
      if (a.kind == QuantityKind::kCondition || (a.kind == QuantityKind::kText && !equality)) {
        fail(fmt::format("{} is not for {}", o.text, a.kind == QuantityKind::kText ? "texts" : "conditions"));
      }
      return {QuantityKind::kCondition, {}};
    }
    require(a, QuantityKind::kNumber, o.text);
    const bool multiplies = o.operation == O::kMultiply || o.operation == O::kDivide;
    if (!multiplies) {
      require_same(a, b, o.text);
      return a;
    }
    require(b, QuantityKind::kNumber, o.text);
    return {QuantityKind::kNumber, product(a.dimension, b.dimension, o.operation == O::kMultiply ? 1 : -1)};
  }

  void apply(const Operator& o) {
    if (o.operation < O::kOr) {
      require(types_.back(), o.operation == O::kNot ? QuantityKind::kCondition : QuantityKind::kNumber, o.text);
      const Symbol type = types_.back();
      types_.pop_back();
      emit({o.operation}, type);
      return;
    }
    const Symbol b = types_.back();
    types_.pop_back();
    const Symbol type = typed(o, types_.back(), b);
    types_.pop_back();
    emit({o.operation}, type);
  }
  void apply_last() {
    const Operator last = waiting_.back().with;
    waiting_.pop_back();
    apply(last);
  }

  // True if a value was consumed; false if one is still expected.
  bool take_value() {
    if (at_ == text_.size()) fail("ends where a value is expected");
    const char c = text_[at_];
    const std::size_t start = at_;
    if (take("(")) return wait({{"", O::kNumber, 0}, true}), false;
    if (take("-")) return wait({kNegative}), false;
    if (take("not")) {
      const bool binds_less = waiting_.empty() || waiting_.back().opens || waiting_.back().with.precedence <= 3;
      if (binds_less) return wait({kNot}), false;
      at_ = start;
      fail(fmt::format("found {} where a value is expected", rest()));
    }
    if (c == '\'' || c == '"') return take_text(c), true;
    if (is_digit(c)) return take_number(), true;
    if (is_name_start(c)) return take_name();
    fail(fmt::format("found {} where a value is expected", rest()));
  }

  void take_text(char quote) {
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("has a text without its closing quote");
    emit({O::kText, text_number(std::string(text_.substr(at_ + 1, end - at_ - 1)))}, {QuantityKind::kText, {}});
    at_ = end + 1;
  }

  void take_number() {
    const std::size_t start = at_;
    while (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.')) ++at_;
    const std::size_t exponent = at_ + 1;
    if (exponent < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E') &&
        (is_digit(text_[exponent]) ||
         (text_[exponent] == '-' && exponent + 1 < text_.size() && is_digit(text_[exponent + 1])))) {
      at_ = exponent + 1;
      while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    }
    const std::size_t end = at_;
    skip();
    Symbol type;
    double value = 0;
    try {
      const auto unit = std::find_if(units().begin(), units().end(), [&](const auto& u) { return take(u.first); });
      if (unit != units().end()) {
        value = config::parse_real(unit->second, text_.substr(start, at_ - start));
        type.dimension = dimension_of(unit->second);
      } else {
        value = config::parse_plain_real(text_.substr(start, end - start));
      }
    } catch (const config::ConfigError& problem) {
      fail(problem.what());
    }
    if (type.dimension == Dimension{}) {
      if (at_ < text_.size() && is_name_start(text_[at_])) {  // "3 and" is valid, "3 MiBB" is not
        std::size_t stop = at_;
        while (stop < text_.size() && is_name(text_[stop])) ++stop;
        const std::string_view word = text_.substr(at_, stop - at_);
        if (word != "and" && word != "or") fail(fmt::format("unit {} is unknown", config::in_quotes(word)));
      }
      at_ = end;
    }
    if (numbers_ == Numbers::kWhole && (value != std::floor(value) || value > kLargestWhole)) {
      fail(fmt::format("found {}, allowed are whole numbers up to {:.0f}",
                       config::in_quotes(text_.substr(start, end - start)), kLargestWhole));
    }
    emit({O::kNumber, 0, value}, type);
  }

  // True for a quantity's name; false for a function with its parenthesis.
  bool take_name() {
    const std::size_t start = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    const std::string word(text_.substr(start, at_ - start));
    if (take("(")) {
      std::vector<std::string> names;
      for (const Operator& function : kFunctions) {
        if (word == function.text) return wait({function, true}), false;
        names.emplace_back(function.text);
      }
      fail(fmt::format("function {} is unknown{}", config::in_quotes(word), config::hint(word, names)));
    }
    const auto symbol = symbols_.find(word);
    if (symbol == symbols_.end()) fail(fmt::format("{} is unknown; {}", config::in_quotes(word), meant(word)));
    emit({O::kName, text_number(word)}, symbol->second);
    return true;
  }

  std::string meant(const std::string& word) const {
    constexpr std::size_t kFew = 4, kSome = 16;
    std::vector<std::string> names;
    for (const auto& [known, type] : symbols_) names.push_back(known);
    const auto inside = [&](const std::string& name) { return name.compare(0, word.size() + 1, word + ".") == 0; };
    const bool section = std::any_of(names.begin(), names.end(), inside);
    const std::string near = section ? "" : config::nearest(word, names);
    if (!near.empty()) return fmt::format("did you mean '{}'?", near);
    const auto unlike = [&](const std::string& name) { return name.find(word) == std::string::npos; };
    std::vector<std::string> like = names;
    like.erase(std::remove_if(like.begin(), like.end(), unlike), like.end());
    if (!like.empty() && like.size() <= kSome) return fmt::format("did you mean one of {}?", fmt::join(like, ", "));
    return names.size() <= kFew ? fmt::format("allowed: {}", fmt::join(names, ", ")) : "texts are in quotes";
  }

  // True if a value must follow.
  bool take_operator() {
    if (take(")")) {
      close();
      return false;
    }
    if (take(",")) {
      next_argument();
      return true;
    }
    const std::size_t start = at_;
    for (const Operator& o : kOperators) {
      if (!take(o.text)) continue;
      while (!waiting_.empty() && !waiting_.back().opens && waiting_.back().with.precedence >= o.precedence) {
        if (o.precedence == kComparison && waiting_.back().with.precedence == kComparison) {
          at_ = start;  // "a < b < c"
          expected_operator();
        }
        apply_last();
      }
      wait({o});
      return true;
    }
    expected_operator();
  }
  [[noreturn]] void expected_operator() const { fail(fmt::format("found {} where an operator is expected", rest())); }

  void apply_to_opening(const char* token) {
    while (!waiting_.empty() && !waiting_.back().opens) apply_last();
    if (!waiting_.empty()) return;
    --at_;
    fail(fmt::format("found {} where an operator is expected", *token == ',' ? "','" : rest()));
  }
  static bool takes_two(const Operator& o) { return o.operation == O::kMin || o.operation == O::kMax; }

  void close() {
    apply_to_opening(")");
    const PendingOperator opening = waiting_.back();
    if (takes_two(opening.with) && opening.commas == 0) {
      --at_;
      fail(fmt::format("found {} where ',' is expected", rest()));
    }
    waiting_.pop_back();
    if (opening.with.operation != O::kNumber) apply(opening.with);
  }
  void next_argument() {
    apply_to_opening(",");
    PendingOperator& opening = waiting_.back();
    if (!takes_two(opening.with) || opening.commas > 0) {
      --at_;
      fail(fmt::format("found {} where ')' is expected", rest()));
    }
    ++opening.commas;
  }

  std::string_view text_;
  const Symbols& symbols_;
  const config::Origin& origin_;
  Numbers numbers_;
  std::size_t at_ = 0;
  std::vector<PendingOperator> waiting_;
  std::vector<Symbol> types_;
  Program program_;
};

}  // namespace

Program parse_program(std::string_view text, const Symbols& symbols, const config::Origin& origin, Numbers numbers) {
  return Parser(text, symbols, origin, numbers).all();
}

void refuse(std::string_view text, const config::Origin& origin, const std::string& what) {
  const std::string sentence = fmt::format("expression {}: {}", config::in_quotes(text), what);
  if (origin.source.empty()) throw config::ConfigError(sentence);
  config::fail(origin, sentence);
}

std::string kind_text(const Symbol& s) {
  if (s.kind == QuantityKind::kNumber) return to_string(s.dimension);
  return s.kind == QuantityKind::kText ? "a text" : "a condition";
}

}  // namespace attnvp::expression
