// User error: the exception type of exit status 2, and the location of a setting.
#pragma once

#include <stdexcept>
#include <string>

namespace attnvp::config {

// The message is one sentence: location (file and line, or option), key, found value, allowed values.
struct ConfigError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Location of a setting: a file and line (from 1), or an option such as "--set l1.size=2 MiB" (line 0).
struct Origin {
  std::string source;
  int line = 0;

  std::string text() const { return line > 0 ? source + ":" + std::to_string(line) : source; }
};

[[noreturn]] inline void fail(const Origin& origin, const std::string& sentence) {
  throw ConfigError(origin.text() + ": " + sentence);
}

}  // namespace attnvp::config
