// Files that a report is written to, and its progress on a terminal.
#pragma once

#include <cstdio>
#include <string>

#include "platform/files/outputs.h"

namespace attnvp::reproduce {

// A study's report as JSON, CSV and page.
class Outputs {
 public:
  // "" is none; "-", stdout, for JSON alone. Throws config::ConfigError.
  Outputs(const std::string& json, const std::string& csv, const std::string& markdown);
  bool page() const { return markdown_ != nullptr; }
  void write(const std::string& json, const std::string& csv, const std::string& markdown, const std::string& text);

 private:
  files::Outputs files_;
  files::Output *json_, *csv_, *markdown_;
  bool json_on_stdout_ = false;
};

// One line on a terminal's stderr that says what is under way.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(const std::string& what);

 private:
  bool terminal_ = false;
};

}  // namespace attnvp::reproduce
