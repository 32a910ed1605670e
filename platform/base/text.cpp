#include "platform/base/text.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace attnvp::text {

namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  // 0: not UTF-8
};

// Strict: shortest form only, no surrogates, at most U+10FFFF.
Character character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (bytes == 0 || first > 0xf4 || at + bytes > text.size()) return {};
  std::uint32_t code = first & (0xffU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {code, bytes};
}

bool is_control(std::uint32_t code) {
  const bool direction = code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
                         (code >= 0x2066 && code <= 0x2069);
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029 || code == 0xfeff ||
         direction;
}

std::string escape(std::uint32_t code) {
  if (code == '\n') return "\\n";
  if (code == '\t') return "\\t";
  if (code == '\r') return "\\r";
  return code < 0x80 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
}

}  // namespace

std::string printable(std::string_view text, std::size_t longest) {
  std::string out;
  std::size_t shown = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    const std::string piece = c.bytes == 0         ? fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at]))
                              : is_control(c.code) ? escape(c.code)
                                                   : std::string(text.substr(at, c.bytes));
    shown += c.bytes == 0 || is_control(c.code) ? piece.size() : 1;
    if (shown > longest) return out + "...";
    out += piece;
    at += c.bytes == 0 ? 1 : c.bytes;
  }
  return out;
}

bool is_printable(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    if (c.bytes == 0 || is_control(c.code)) return false;
    at += c.bytes;
  }
  return true;
}

std::size_t first_not_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    if (c.bytes == 0) return at;
    at += c.bytes;
  }
  return std::string_view::npos;
}

std::string escaped_for_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

void complain(std::string_view sentence) {
  std::fflush(stdout);  // keeps the order if both go to the same file
  std::fprintf(stderr, "attnvp: %s\n", printable(sentence).c_str());
}

std::string fill(std::string_view page, const std::map<std::string, std::string_view>& marks) {
  std::string out;
  while (!page.empty()) {
    const std::size_t start = page.find('@');
    const std::size_t end = start == std::string_view::npos ? start : page.find('@', start + 1);
    if (end == std::string_view::npos) break;
    const auto mark = marks.find(std::string(page.substr(start + 1, end - start - 1)));
    out += page.substr(0, mark == marks.end() ? end : start);
    if (mark != marks.end()) out += mark->second;
    page.remove_prefix(mark == marks.end() ? end : end + 1);  // the second @ of an unknown mark may begin the next one
  }
  return out.append(page);
}

namespace {

constexpr std::size_t kLeast = 20, kMost = 10'000, kDefault = 100;

std::size_t width_of(int file, std::size_t otherwise) {
  struct winsize size {};
  const bool known = ::isatty(file) != 0 && ::ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col >= kLeast;
  return known ? size.ws_col : otherwise;
}

}  // namespace

std::size_t line_width() {
  if (const char* const columns = std::getenv("COLUMNS"); columns != nullptr) {
    char* end = nullptr;
    const unsigned long value = std::strtoul(columns, &end, 10);
    if (end != columns && *end == '\0' && value >= kLeast && value <= kMost) return value;
  }
  return width_of(STDOUT_FILENO, kDefault);
}

std::size_t message_width() { return width_of(STDERR_FILENO, kUnlimited); }

std::string uuid_of(const std::string& text) {
  return boost::uuids::to_string(boost::uuids::name_generator_sha1(boost::uuids::ns::oid())(text));
}

}  // namespace attnvp::text
