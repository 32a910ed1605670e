#include "platform/base/npy/npy_header.h"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

#include "platform/machine/error.h"

namespace attnvp::tensors {
namespace {

constexpr std::size_t kMostDimensions = 32;  // limit of NumPy
constexpr std::size_t kAlignmentBytes = 64;
constexpr std::size_t kPreambleBytes = 10;  // magic, version, 16-bit length

[[noreturn]] void refuse(const std::string& why) { throw config::ConfigError("has a bad header: " + why); }

// Parser of the Python subset that NumPy writes: a dictionary of strings, True or False, and a tuple of whole numbers.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  NpyHeader parse() {
    NpyHeader header;
    bool has_descr = false;
    bool has_order = false;
    bool has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr") {
        once(has_descr, key);
        if (peek() == '[') refuse("a structured type; allowed are '<f2' and '<f4'");
        header.descr = string();
      } else if (key == "fortran_order") {
        once(has_order, key);
        header.fortran_order = boolean();
      } else if (key == "shape") {
        once(has_shape, key);
        header.shape = tuple();
      } else {
        refuse(fmt::format("key '{}' is unknown; allowed: descr, fortran_order, shape", key));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (peek() != '\0') refuse("text after the dictionary");
    if (!has_descr || !has_order || !has_shape) {
      refuse(fmt::format("key '{}' is missing", !has_descr ? "descr" : !has_order ? "fortran_order" : "shape"));
    }
    return header;
  }

 private:
  // Next non-blank character; '\0' at the end.
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) refuse(fmt::format("expected '{}' at character {}", c, at_));
  }

  static void once(bool& seen, const std::string& key) {
    if (seen) refuse(fmt::format("key '{}' is given twice", key));
    seen = true;
  }

  std::string string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') refuse(fmt::format("expected a quoted text at character {}", at_));
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) refuse("a quoted text does not end");
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    for (const char c : value) {
      if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) refuse("unprintable text");
    }
    at_ = end + 1;
    return value;
  }

  bool boolean() {
    peek();
    for (const std::string_view word : {std::string_view("True"), std::string_view("False")}) {
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return word == "True";
      }
    }
    refuse("fortran_order is neither True nor False");
  }

  std::vector<std::size_t> tuple() {
    std::vector<std::size_t> sizes;
    expect('(');
    while (!accept(')')) {
      peek();
      std::size_t size = 0;
      const char* end = text_.data() + text_.size();
      const auto [stop, error] = std::from_chars(text_.data() + at_, end, size);
      if (error != std::errc()) refuse("the shape is not a tuple of whole numbers, 0 or more");
      at_ = static_cast<std::size_t>(stop - text_.data());
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // long integers of Python 2
      sizes.push_back(size);
      if (sizes.size() > kMostDimensions) refuse("more than 32 dimensions");
      if (accept(',')) continue;
      if (sizes.size() == 1) refuse("the shape is not a tuple: (n) must be written (n,)");
      expect(')');
      break;
    }
    return sizes;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text) { return Parser(text).parse(); }

std::string shape_text(const std::vector<std::size_t>& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

std::string make_npy_header(const NpyHeader& header) {
  std::string dictionary = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", header.descr,
                                       header.fortran_order ? "True" : "False", shape_text(header.shape));
  const std::size_t unpadded = kPreambleBytes + dictionary.size() + 1;
  dictionary.append((kAlignmentBytes - unpadded % kAlignmentBytes) % kAlignmentBytes, ' ');
  dictionary += '\n';
  std::string out = "\x93NUMPY";
  out += '\x01';
  out += '\x00';
  out += static_cast<char>(dictionary.size() & 0xff);
  out += static_cast<char>(dictionary.size() >> 8);
  return out + dictionary;
}

}  // namespace attnvp::tensors
