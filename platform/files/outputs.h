// All files that a command is asked to write: the one place that knows them, and every input.
#pragma once

#include <deque>
#include <string>
#include <utility>

#include "platform/files/origin.h"

namespace attnvp::files {

// One file, kept in memory until all are put in place.
class Output {
 public:
  Output(std::string option, std::string path) : option_(std::move(option)), path_(std::move(path)) {}
  // With its origin (files::origin) in the way of that kind of file.
  void write(std::string text, Form form) {
    text_ = with_origin(form, std::move(text));
    written_ = true;
  }

 private:
  friend class Outputs;
  std::string option_, path_, text_;
  bool written_ = false;
};

// Outputs are opened before the work, so that a path that cannot be written costs none; commit() puts them in place
// all together or, when one cannot be written, none of them. What goes to stdout comes after that.
class Outputs {
 public:
  // nullptr for "" (not asked for), and for "-" (stdout) where that is allowed. Throws config::ConfigError: cannot be
  // written, is an input of this process, is another output.
  Output* open(const std::string& option, const std::string& path);
  Output* open_or_stdout(const std::string& option, const std::string& path) {
    return path == "-" ? nullptr : open(option, path);
  }

  // Of those that were written to. Throws config::ConfigError.
  void commit();

 private:
  std::deque<Output> outputs_;
};

}  // namespace attnvp::files
