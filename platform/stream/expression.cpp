#include "platform/stream/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>

#include "platform/config/error.h"
#include "platform/config/words.h"

namespace attnvp::stream {

namespace {

constexpr int kDeepest = 50;  // nested parentheses

class Parser {
 public:
  Parser(std::string_view text, const Variables& variables) : text_(text), variables_(variables) {}

  std::int64_t all() {
    const std::int64_t value = sum();
    if (!rest().empty()) fail(fmt::format("{} is one too many", config::in_quotes(rest())));
    return value;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw config::ConfigError(fmt::format("found {}: {}", config::in_quotes(text_), why));
  }
  std::string_view rest() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    return text_.substr(at_);
  }
  bool accept(char c) {
    const bool there = !rest().empty() && rest().front() == c;
    if (there) ++at_;
    return there;
  }
  void expect(char c) {
    if (!accept(c)) fail(fmt::format("'{}' is missing{}", c, rest().empty() ? " at the end" : ""));
  }

  std::int64_t sum() {
    std::int64_t value = product();
    for (;;) {
      bool overflow = false;
      if (accept('+')) {
        overflow = __builtin_add_overflow(value, product(), &value);
      } else if (accept('-')) {
        overflow = __builtin_sub_overflow(value, product(), &value);
      } else {
        return value;
      }
      if (overflow) fail("its value is out of range");
    }
  }

  std::int64_t product() {
    std::int64_t value = factor();
    for (;;) {
      if (accept('*')) {
        if (__builtin_mul_overflow(value, factor(), &value)) fail("its value is out of range");
      } else if (accept('/')) {
        const std::int64_t by = factor();
        if (by <= 0) fail("it divides by a number that is not positive");
        value = value / by - (value % by < 0 ? 1 : 0);
      } else {
        return value;
      }
    }
  }

  std::int64_t factor() {
    if (accept('(')) {
      if (++depth_ > kDeepest) fail("its parentheses are nested too deeply");
      const std::int64_t value = sum();
      expect(')');
      --depth_;
      return value;
    }
    const std::string_view text = rest();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) fail("a number is out of range");
    if (error == std::errc() && text.front() != '-') {
      at_ += static_cast<std::size_t>(end - text.data());
      return value;
    }
    const auto* const word_end =
        std::find_if(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '_'; });
    const std::string_view word = text.substr(0, static_cast<std::size_t>(word_end - text.begin()));
    if (word.empty()) fail(text.empty() ? "a number is missing at the end" : "a number is missing");
    at_ += word.size();
    if (word == "min" || word == "max") return least_or_greatest(word == "min");
    std::vector<std::string> names{"min", "max"};
    for (const auto& [name, number] : variables_) {
      if (name == word) return number;
      names.emplace_back(name);
    }
    fail(fmt::format("{} is unknown; allowed: numbers, {}", config::in_quotes(word), fmt::join(names, ", ")));
  }

  std::int64_t least_or_greatest(bool least) {
    expect('(');
    if (++depth_ > kDeepest) fail("its parentheses are nested too deeply");
    const std::int64_t a = sum();
    expect(',');
    const std::int64_t b = sum();
    expect(')');
    --depth_;
    return least ? std::min(a, b) : std::max(a, b);
  }

  std::string_view text_;
  const Variables& variables_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::int64_t evaluate(std::string_view text, const Variables& variables) { return Parser(text, variables).all(); }

}  // namespace attnvp::stream
