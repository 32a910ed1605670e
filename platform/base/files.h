// Files of a command: input files, files that are written completely or not at all, and outputs that are checked
// against each other and against the inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "platform/base/origin.h"

namespace attnvp::files {

// Input files are read completely, bounded in size, and recorded, so that no output overwrites them.

// Reads a regular file. Throws config::ConfigError: missing, not a regular file (a pipe would block), larger than
// `most_bytes`, unreadable.
std::string read_file(const std::string& path, std::uint64_t most_bytes);

// Records a file as input of this process, for readers that do not use read_file().
void note_input(const std::string& path);

// Path of the recorded input that is the same file as `path`, also through links; empty: none.
std::string input_at(const std::string& path);

// True for a pipe, a device, or the target of this process's stdout or stderr. These are written directly, as nothing
// can be renamed over them.
bool is_stream(const std::string& path);

// Writes to a temporary file in the destination's folder; commit() renames it, so readers never see a partial file.
// Without commit() (exception, early return) the destination is unchanged and the temporary file is removed. Symbolic
// links are followed, also to files that do not exist; existing files keep their permissions. Data is not synchronised
// to disk.
class AtomicFile {
 public:
  // Throws config::ConfigError: no such folder, not writable, a folder, a pipe without reader.
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // Throw config::ConfigError, e.g. if the disk is full.
  void write(const void* data, std::size_t size_bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  void close();   // call once, after the last write; reports remaining errors
  void commit();  // call once; closes the file if it is open

 private:
  void open_stream();
  void open_temporary();
  void open_stream(int descriptor);  // takes it over
  [[noreturn]] void fail_with(int error_number);
  void discard();

  std::string path_;         // as given, for messages
  std::string destination_;  // symbolic links resolved
  std::string temporary_;    // empty for streams
  std::FILE* file_ = nullptr;
};

// Writes a whole file.
void write_file_atomically(const std::string& path, std::string_view text);

// One output file of a command, kept in memory until commit().
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
