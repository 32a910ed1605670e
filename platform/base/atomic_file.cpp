#include "platform/base/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "platform/machine/error.h"

namespace attnvp::files {
namespace fs = std::filesystem;

namespace {

constexpr int kMostLinks = 40;  // as in the Linux kernel
constexpr useconds_t kPollMicroseconds = 10'000;
constexpr int kMostPolls = 300;  // wait for the reader of a pipe

// Unique within the process; O_EXCL detects other conflicts.
std::string temporary_name(const fs::path& destination) {
  static std::atomic<unsigned> counter{0};
  const std::string name = fmt::format(".attnvp-{}-{}.tmp", ::getpid(), counter++);
  return (destination.parent_path() / name).string();
}

// Standard stream that is the same file as `path`; -1: none.
int own_stream(const std::string& path) {
  struct stat there {
  }, own{};
  if (::stat(path.c_str(), &there) != 0) return -1;
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
    if (::fstat(descriptor, &own) == 0 && own.st_dev == there.st_dev && own.st_ino == there.st_ino) return descriptor;
  }
  return -1;
}

// Resolves symbolic links, also to missing files; empty, with errno, for a cycle of links.
std::string without_links(fs::path path) {
  for (int links = 0; links < kMostLinks; ++links) {
    std::error_code error;
    const fs::path target = fs::read_symlink(path, error);
    if (error) return path.string();
    path = target.is_absolute() ? target : path.parent_path() / target;
  }
  errno = ELOOP;
  return {};
}

}  // namespace

bool is_stream(const std::string& path) {
  struct stat there {};
  if (::stat(path.c_str(), &there) != 0) return false;
  return (!S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode)) || own_stream(path) >= 0;
}

AtomicFile::AtomicFile(const std::string& path) : path_(path) {
  if (path.empty()) fail_with(ENOENT);
  if (is_stream(path)) {
    open_stream();
  } else {
    open_temporary();
  }
}

// Opens the path as given: /dev/stdout resolves to names such as /proc/1/fd/pipe:[123], which cannot be opened.
void AtomicFile::open_stream() {
  const int own = own_stream(path_);
  int descriptor = -1;
  if (own >= 0) {
    std::fflush(own == STDOUT_FILENO ? stdout : stderr);
    descriptor = ::fcntl(own, F_DUPFD_CLOEXEC, 0);  // shares the file offset with printed text
  } else {
    // O_NONBLOCK makes the open fail for a pipe without reader instead of blocking.
    for (int polls = 0; polls < kMostPolls; ++polls) {
      descriptor = ::open(path_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
      if (descriptor >= 0 || errno != ENXIO) break;
      ::usleep(kPollMicroseconds);
    }
    if (descriptor >= 0) ::fcntl(descriptor, F_SETFL, 0);  // later writes block
  }
  if (descriptor < 0 && errno == ENXIO) {
    throw config::ConfigError(fmt::format("{}: cannot be written: the pipe has no reader", path_));
  }
  if (descriptor < 0) fail_with(errno);
  file_ = ::fdopen(descriptor, "wb");
  if (file_ == nullptr) {
    const int why = errno;
    ::close(descriptor);
    fail_with(why);
  }
}

void AtomicFile::open_temporary() {
  destination_ = without_links(path_);
  if (destination_.empty()) fail_with(errno);
  struct stat existing {};
  const bool exists = ::stat(destination_.c_str(), &existing) == 0;
  if (exists && S_ISDIR(existing.st_mode)) fail_with(EISDIR);
  if (exists && ::access(destination_.c_str(), W_OK) != 0) fail_with(errno);
  temporary_ = temporary_name(destination_);
  const int descriptor = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    const int why = errno;
    temporary_.clear();
    fail_with(why);
  }
  // File systems without permissions are accepted.
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

void AtomicFile::close() {
  if (file_ != nullptr && std::fclose(std::exchange(file_, nullptr)) != 0) fail_with(errno);
}

void AtomicFile::commit() {
  close();
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

}  // namespace attnvp::files
