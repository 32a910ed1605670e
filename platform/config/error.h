// What a user can get wrong: the one exception type behind exit status 2.
#pragma once

#include <stdexcept>
#include <string>

namespace attnvp::config {

// The message is one clear sentence: where (file and line, or the option), which key, what was found, what is
// allowed.
struct ConfigError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Where a setting was written: a file with its line (counted from 1), or an option such as "--set l1.size=2
// MiB", which has no lines (line 0).
struct Origin {
  std::string source;
  int line = 0;

  std::string text() const { return line > 0 ? source + ":" + std::to_string(line) : source; }
};

[[noreturn]] inline void fail(const Origin& origin, const std::string& sentence) {
  throw ConfigError(origin.text() + ": " + sentence);
}

}  // namespace attnvp::config
