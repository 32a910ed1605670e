// Output files that appear whole or not at all.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace attnvp::files {

// A pipe or a device, or what stdout or stderr of this process go to: written directly, as nothing can be renamed into
// its place.
bool is_stream(const std::string& path);

// Writes to a temporary file in the destination's folder; commit() renames it into place, so that no reader
// ever sees half a file. Without commit() (an exception, an early return) the destination is left as it was
// and nothing stays behind. A symbolic link is followed, also to where nothing is yet; an existing file keeps its
// permissions. Not proof against power failure: the data is not forced to disk.
class AtomicFile {
 public:
  // Throws config::ConfigError: no such folder, not writable, is a folder, a pipe that nobody reads.
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // Throw config::ConfigError when the disk is full and the like.
  void write(const void* data, std::size_t size_bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  void close();   // once, after the last write: what can fail has failed then
  void commit();  // once; closes where that is still to do

 private:
  void open_stream();
  void open_temporary();
  [[noreturn]] void fail_with(int error_number);
  void discard();

  std::string path_;         // as given, for messages
  std::string destination_;  // symbolic links followed
  std::string temporary_;    // empty when written directly
  std::FILE* file_ = nullptr;
};

// The whole file at once.
void write_file_atomically(const std::string& path, std::string_view text);

}  // namespace attnvp::files
