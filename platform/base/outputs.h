// Output files of a command, checked against each other and against its inputs.
#pragma once

#include <deque>
#include <string>
#include <utility>

#include "platform/base/origin.h"

namespace attnvp::files {

// One file, kept in memory until commit().
class Output {
 public:
  Output(std::string option, std::string path) : option_(std::move(option)), path_(std::move(path)) {}
  // Adds the origin (files::origin) in the given form.
  void write(std::string text, Form form) {
    text_ = with_origin(form, std::move(text));
    written_ = true;
  }

 private:
  friend class Outputs;
  std::string option_, path_, text_;
  bool written_ = false;
};

// Outputs are opened before the work, so that invalid paths fail early. commit() writes all of them or none. Text for
// stdout is printed afterwards.
class Outputs {
 public:
  // nullptr for "" (not requested), and for "-" (stdout) if allowed. Throws config::ConfigError: not writable, an input
  // of this process, another output.
  Output* open(const std::string& option, const std::string& path);
  Output* open_or_stdout(const std::string& option, const std::string& path) {
    return path == "-" ? nullptr : open(option, path);
  }

  // Commits the outputs that were written to. Throws config::ConfigError.
  void commit();

 private:
  std::deque<Output> outputs_;
};

}  // namespace attnvp::files
