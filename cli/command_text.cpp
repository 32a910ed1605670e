#include "cli/command_text.h"

#include <algorithm>
#include <array>

namespace attnvp::cli {

namespace {

// Where outputs go, and by how many processes they are made.
constexpr std::array kNoMatter = {"--json",
                                  "--csv",
                                  "--html",
                                  "--svg",
                                  "--out",
                                  "--output",
                                  "-o",
                                  "--vcd",
                                  "--dot",
                                  "--ert",
                                  "--art",
                                  "--save",
                                  "--db",
                                  "--profile",
                                  "--action-counts",
                                  "--instruction-trace",
                                  "--jobs",
                                  "-j",
                                  "--timeline",
                                  "--markdown"};

}  // namespace

std::string quoted(const std::string& word) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string("-_./=,:+@%").find(static_cast<char>(c)) != std::string::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string command_text(int argc, const char* const* argv) {
  std::string text = "attnvp";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto output = std::find_if(kNoMatter.begin(), kNoMatter.end(), [&](const std::string& option) {
      const bool glued = option.size() == 2 ? word.rfind(option, 0) == 0 : word.rfind(option + "=", 0) == 0;
      return word == option || glued;
    });
    if (output == kNoMatter.end()) {
      text += " " + quoted(word);
    } else if (word == *output) {
      ++i;  // its value
    }
  }
  return text;
}

}  // namespace attnvp::cli
