#include "explore/sweep/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/config/words.h"

namespace attnvp::explore {

namespace {

using Evaluate = std::function<Quantity(const Values&)>;

struct Term {
  Symbol type;
  Evaluate evaluate;
};

double real(const Term& t, const Values& values) { return std::get<double>(t.evaluate(values)); }

Dimension product(const Dimension& a, const Dimension& b, int sign) {
  return {a.bytes + sign * b.bytes, a.seconds + sign * b.seconds, a.picojoules + sign * b.picojoules};
}

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) { return is_name_start(c) || is_digit(c) || c == '.'; }

std::string kind_text(const Symbol& s) {
  if (s.kind == Kind::kNumber) return to_string(s.dimension);
  return s.kind == Kind::kText ? "a text" : "a condition";
}

// All units that a number may carry, the longest names first: "GB/s" before "GB".
const std::vector<std::pair<std::string, config::Unit>>& units() {
  static const auto all = [] {
    using config::Unit;
    std::vector<std::pair<std::string, Unit>> list;
    for (const Unit unit :
         {Unit::kBytes, Unit::kBytesPerCycle, Unit::kFrequency, Unit::kBandwidth, Unit::kTime, Unit::kEnergy}) {
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

class Parser {
 public:
  Parser(std::string_view text, const Symbols& symbols, const config::Origin& origin)
      : text_(text), symbols_(symbols), origin_(origin) {}

  Term all() {
    Term t = disjunction();
    skip();
    if (at_ < text_.size()) refuse(fmt::format("found {} where an operator is expected", rest()));
    return t;
  }

 private:
  // Parentheses within each other: so many that nobody writes more, so few that the stack holds them.
  struct Deeper {
    explicit Deeper(Parser& p) : parser(p) {
      if (++parser.depth_ > 100) parser.refuse("is nested too deeply");
    }
    ~Deeper() { --parser.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    Parser& parser;
  };

  [[noreturn]] void refuse(const std::string& what) const {
    config::fail(origin_, fmt::format("expression {}: {}", config::in_quotes(text_), what));
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
  }
  std::string rest() const {
    return at_ < text_.size() ? config::in_quotes(text_.substr(at_)) : std::string("the end");
  }

  // A sign, or a word that no name goes on from.
  bool take(std::string_view token) {
    skip();
    if (text_.substr(at_, token.size()) != token) return false;
    const std::size_t end = at_ + token.size();
    if (is_name_start(token[0]) && end < text_.size() && is_name(text_[end])) return false;
    at_ = end;
    return true;
  }

  void require(const Term& t, Kind kind, const char* who) const {
    if (t.type.kind == kind) return;
    const char* wanted = kind == Kind::kNumber ? "a number" : kind == Kind::kText ? "a text" : "a condition";
    refuse(fmt::format("{} needs {}, found {}", who, wanted, kind_text(t.type)));
  }
  void require_same(const Term& a, const Term& b, const char* who) const {
    if (a.type.kind == b.type.kind && a.type.dimension == b.type.dimension) return;
    refuse(fmt::format("{} needs two of a kind, found {} and {}", who, kind_text(a.type), kind_text(b.type)));
  }

  Term disjunction() {
    Term t = conjunction();
    while (take("or") || take("||")) t = both(std::move(t), conjunction(), "or", false);
    return t;
  }
  Term conjunction() {
    Term t = negation();
    while (take("and") || take("&&")) t = both(std::move(t), negation(), "and", true);
    return t;
  }
  Term both(Term a, Term b, const char* who, bool all_of) const {
    require(a, Kind::kCondition, who);
    require(b, Kind::kCondition, who);
    return {{Kind::kCondition, {}}, [a = std::move(a), b = std::move(b), all_of](const Values& v) -> Quantity {
              const bool first = std::get<bool>(a.evaluate(v));
              return first == all_of ? std::get<bool>(b.evaluate(v)) : first;
            }};
  }
  Term negation() {
    if (!take("not")) return comparison();
    const Deeper deeper(*this);
    Term t = negation();
    require(t, Kind::kCondition, "not");
    return {t.type, [t](const Values& v) -> Quantity { return !std::get<bool>(t.evaluate(v)); }};
  }

  Term comparison() {
    Term a = sum();
    for (const char* sign : {"<=", ">=", "==", "!=", "<", ">", "="}) {
      if (!take(sign)) continue;
      Term b = sum();
      require_same(a, b, sign);
      const std::string op = sign;
      const bool equality = op == "==" || op == "=" || op == "!=";
      if (a.type.kind == Kind::kCondition || (a.type.kind == Kind::kText && !equality)) {
        refuse(fmt::format("{} is not for {}", op, a.type.kind == Kind::kText ? "texts" : "conditions"));
      }
      return {{Kind::kCondition, {}}, [a = std::move(a), b = std::move(b), op](const Values& v) -> Quantity {
                const Quantity x = a.evaluate(v);
                const Quantity y = b.evaluate(v);
                if (op == "<=") return x <= y;
                if (op == ">=") return x >= y;
                if (op == "<") return x < y;
                if (op == ">") return x > y;
                return (x == y) == (op != "!=");
              }};
    }
    return a;
  }

  Term sum() {
    Term a = multiplication();
    for (;;) {
      const char* sign = take("+") ? "+" : take("-") ? "-" : nullptr;
      if (sign == nullptr) return a;
      Term b = multiplication();
      require(a, Kind::kNumber, sign);
      require_same(a, b, sign);
      const double factor = *sign == '+' ? 1 : -1;
      const Symbol type = a.type;
      a = {type, [a = std::move(a), b = std::move(b), factor](const Values& v) -> Quantity {
             return real(a, v) + factor * real(b, v);
           }};
    }
  }

  Term multiplication() {
    Term a = factor();
    for (;;) {
      const char sign = take("*") ? '*' : take("/") ? '/' : take("%") ? '%' : '\0';
      if (sign == '\0') return a;
      Term b = factor();
      const std::string name(1, sign);
      require(a, Kind::kNumber, name.c_str());
      require(b, Kind::kNumber, name.c_str());
      if (sign == '%') require_same(a, b, "%");
      Symbol type = a.type;
      if (sign != '%') type.dimension = product(a.type.dimension, b.type.dimension, sign == '*' ? 1 : -1);
      a = {type, [a = std::move(a), b = std::move(b), sign](const Values& v) -> Quantity {
             const double x = real(a, v);
             const double y = real(b, v);
             return sign == '*' ? x * y : sign == '/' ? x / y : std::fmod(x, y);
           }};
    }
  }

  Term factor() {
    skip();
    if (at_ >= text_.size()) refuse("ends where a value is expected");
    const Deeper deeper(*this);
    return atom();
  }

  Term atom() {
    const char c = text_[at_];
    if (take("(")) {
      Term t = disjunction();
      if (!take(")")) refuse(fmt::format("found {} where ')' is expected", rest()));
      return t;
    }
    if (take("-")) {
      Term t = factor();
      require(t, Kind::kNumber, "-");
      return {t.type, [t](const Values& v) -> Quantity { return -real(t, v); }};
    }
    if (c == '\'' || c == '"') return quoted(c);
    if (is_digit(c)) return literal();
    if (is_name_start(c)) return name();
    refuse(fmt::format("found {} where a value is expected", rest()));
  }

  Term quoted(char quote) {
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) refuse("has a text without its closing quote");
    const std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return {{Kind::kText, {}}, [value](const Values&) -> Quantity { return value; }};
  }

  Term literal() {
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
      for (const auto& [unit_name, unit] : units()) {
        if (text_.substr(at_, unit_name.size()) != unit_name) continue;
        const std::size_t after = at_ + unit_name.size();
        if (after < text_.size() && is_name(text_[after])) continue;
        at_ = after;
        value = config::parse_real(unit, text_.substr(start, at_ - start));
        type.dimension = dimension_of(unit);
        return {type, [value](const Values&) -> Quantity { return value; }};
      }
      value = config::parse_plain_real(text_.substr(start, end - start));
    } catch (const config::ConfigError& problem) {
      refuse(problem.what());
    }
    if (at_ < text_.size() && is_name_start(text_[at_])) {  // "3 and" is fine, "3 MiBB" is not
      std::size_t stop = at_;
      while (stop < text_.size() && is_name(text_[stop])) ++stop;
      const std::string_view word = text_.substr(at_, stop - at_);
      if (word != "and" && word != "or") refuse(fmt::format("unit {} is unknown", config::in_quotes(word)));
    }
    at_ = end;
    return {type, [value](const Values&) -> Quantity { return value; }};
  }

  Term name() {
    const std::size_t start = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    const std::string word(text_.substr(start, at_ - start));
    if (take("(")) return call(word);
    const auto symbol = symbols_.find(word);
    if (symbol == symbols_.end()) {
      std::vector<std::string> names;
      for (const auto& [known, type] : symbols_) names.push_back(known);
      const std::string near = config::nearest(word, names);
      refuse(fmt::format("{} is unknown; {}", config::in_quotes(word),
                         near.empty() ? "texts are in quotes" : fmt::format("did you mean '{}'?", near)));
    }
    return {symbol->second, [word](const Values& v) { return v(word); }};
  }

  Term call(const std::string& function) {
    static const std::vector<std::string> functions = {"min", "max", "floor", "ceil", "round"};
    if (std::find(functions.begin(), functions.end(), function) == functions.end()) {
      refuse(fmt::format("function {} is unknown{}", config::in_quotes(function), config::hint(function, functions)));
    }
    Term a = disjunction();
    require(a, Kind::kNumber, function.c_str());
    Term b = a;
    if (function == "min" || function == "max") {
      if (!take(",")) refuse(fmt::format("found {} where ',' is expected", rest()));
      b = disjunction();
      require_same(a, b, function.c_str());
    }
    if (!take(")")) refuse(fmt::format("found {} where ')' is expected", rest()));
    const Symbol type = a.type;
    return {type, [a = std::move(a), b = std::move(b), function](const Values& v) -> Quantity {
              const double x = real(a, v);
              if (function == "floor") return std::floor(x);
              if (function == "ceil") return std::ceil(x);
              if (function == "round") return std::round(x);
              return function == "min" ? std::min(x, real(b, v)) : std::max(x, real(b, v));
            }};
  }

  std::string_view text_;
  const Symbols& symbols_;
  const config::Origin& origin_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Expression Expression::parse(const std::string& text, const Symbols& symbols, const config::Origin& origin) {
  Term term = Parser(text, symbols, origin).all();
  Expression e;
  e.text_ = text;
  e.type_ = term.type;
  e.evaluate_ = std::move(term.evaluate);
  return e;
}

Expression Expression::condition(const std::string& text, const Symbols& symbols, const config::Origin& origin) {
  Expression e = parse(text, symbols, origin);
  if (e.type_.kind != Kind::kCondition) {
    config::fail(origin, fmt::format("expression {}: found {}, allowed is a condition such as l1.size <= 8 MiB",
                                     config::in_quotes(text), kind_text(e.type_)));
  }
  return e;
}

Expression Expression::number(const std::string& text, const Symbols& symbols, const config::Origin& origin) {
  Expression e = parse(text, symbols, origin);
  if (e.type_.kind != Kind::kNumber) {
    config::fail(origin, fmt::format("expression {}: found {}, allowed is a number", config::in_quotes(text),
                                     kind_text(e.type_)));
  }
  return e;
}

}  // namespace attnvp::explore
