#include "platform/tensors/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "platform/config/error.h"

namespace attnvp::tensors {
namespace fs = std::filesystem;

namespace {

// Unique within the process; O_EXCL guards against everything else.
std::string temporary_name(const fs::path& destination) {
  static std::atomic<unsigned> counter{0};
  const std::string name = fmt::format(".attnvp-{}-{}.tmp", ::getpid(), counter++);
  return (destination.parent_path() / name).string();
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(path) {
  std::error_code error;
  destination_ = fs::weakly_canonical(path, error).string();
  if (error || path.empty()) fail_with(path.empty() ? ENOENT : error.value());

  struct stat existing {};
  const bool exists = ::stat(destination_.c_str(), &existing) == 0;
  if (exists && S_ISDIR(existing.st_mode)) fail_with(EISDIR);
  if (exists && ::access(destination_.c_str(), W_OK) != 0) fail_with(errno);
  if (exists && !S_ISREG(existing.st_mode)) {
    // The path as given: /dev/stdout leads to names such as /proc/1/fd/pipe:[123] that cannot be opened.
    file_ = std::fopen(path.c_str(), "wb");
    if (file_ == nullptr) fail_with(errno);
    return;
  }
  temporary_ = temporary_name(destination_);
  const int descriptor = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    const int why = errno;
    temporary_.clear();
    fail_with(why);
  }
  // Best effort: a file system without permissions is no reason to fail.
  if (exists && ::fchmod(descriptor, existing.st_mode & 07777) != 0) errno = 0;
  file_ = ::fdopen(descriptor, "wb");
  if (file_ == nullptr) {
    const int why = errno;
    ::close(descriptor);
    fail_with(why);
  }
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::write(const void* data, std::size_t size_bytes) {
  if (size_bytes > 0 && std::fwrite(data, 1, size_bytes, file_) != size_bytes) fail_with(errno);
}

void AtomicFile::commit() {
  if (std::fclose(std::exchange(file_, nullptr)) != 0) fail_with(errno);
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), destination_.c_str()) != 0) fail_with(errno);
  temporary_.clear();
}

void AtomicFile::fail_with(int error_number) {
  discard();
  throw config::ConfigError(fmt::format("{}: cannot be written: {}", path_, std::strerror(error_number)));
}

void AtomicFile::discard() {
  if (file_ != nullptr) std::fclose(std::exchange(file_, nullptr));
  if (!temporary_.empty()) ::unlink(std::exchange(temporary_, {}).c_str());
}

void write_file_atomically(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace attnvp::tensors
