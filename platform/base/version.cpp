#include "platform/base/version.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace attnvp::text {

namespace {
std::string& current() {
  static std::string text;
  return text;
}
}  // namespace

std::string version() { return ATTNVP_VERSION; }
std::string command() { return current(); }
void set_command(std::string text) { current() = std::move(text); }
std::string generator() { return "AttnVP " + version(); }

std::string shell_word(const std::string& word) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string("-_./=,:+@%").find(static_cast<char>(c)) != std::string::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace attnvp::text
