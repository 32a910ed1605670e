// Files that a report is written to, and its progress on a terminal.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "platform/tensors/atomic_file.h"

namespace attnvp::reproduce {

// Opened before the runs, so that a path that cannot be written costs none; all are written before the first is put in
// place, and stdout comes last.
class Outputs {
 public:
  // "" is none; "-", stdout, for JSON alone. Throws config::ConfigError.
  Outputs(const std::string& json, const std::string& csv, const std::string& markdown);
  bool page() const { return markdown_ != nullptr; }
  void write(const std::string& json, const std::string& csv, const std::string& markdown, const std::string& text);

 private:
  std::unique_ptr<tensors::AtomicFile> json_, csv_, markdown_;
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
