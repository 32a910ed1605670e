// Output files that are written completely or not at all.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace attnvp::files {

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
  [[noreturn]] void fail_with(int error_number);
  void discard();

  std::string path_;         // as given, for messages
  std::string destination_;  // symbolic links resolved
  std::string temporary_;    // empty for streams
  std::FILE* file_ = nullptr;
};

// Writes a whole file.
void write_file_atomically(const std::string& path, std::string_view text);

}  // namespace attnvp::files
