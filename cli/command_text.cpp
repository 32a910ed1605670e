#include "cli/command_text.h"

#include <algorithm>
#include <array>

namespace attnvp::cli {

namespace {

constexpr std::array kOutputs = {"--json", "--csv",      "--html",          "--svg",     "--out",   "--vcd",
                                 "-o",     "--timeline", "--action-counts", "--profile", "--output"};

std::string quoted(const std::string& word) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string("-_./=,:+@%").find(static_cast<char>(c)) != std::string::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

std::string command_text(int argc, const char* const* argv) {
  std::string text = "attnvp";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto output = std::find_if(kOutputs.begin(), kOutputs.end(), [&](const std::string& option) {
      return word == option || word.rfind(option + "=", 0) == 0;
    });
    if (output == kOutputs.end()) {
      text += " " + quoted(word);
    } else if (word == *output) {
      ++i;  // its value
    }
  }
  return text;
}

}  // namespace attnvp::cli
