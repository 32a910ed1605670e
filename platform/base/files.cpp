#include "platform/base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "platform/machine/error.h"

namespace attnvp::files {

namespace {

using Identity = std::pair<dev_t, ino_t>;

std::map<Identity, std::string>& inputs() {
  static std::map<Identity, std::string> all;
  return all;
}

bool identity_of(const std::string& path, Identity& identity) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return false;
  identity = {status.st_dev, status.st_ino};
  return true;
}

}  // namespace

void note_input(const std::string& path) {
  Identity identity;
  if (identity_of(path, identity)) inputs()[identity] = path;
}

std::string input_at(const std::string& path) {
  Identity identity, now;
  if (!identity_of(path, identity)) return {};
  const auto found = inputs().find(identity);
  if (found == inputs().end()) return {};
  // Check again: inode numbers of removed files are reused.
  return identity_of(found->second, now) && now == identity ? found->second : std::string();
}

std::string read_file(const std::string& path, std::uint64_t most_bytes) {
  const auto refuse = [&](const std::string& why) { config::fail({path}, why); };
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    refuse(errno == ENOENT ? "no such file" : fmt::format("cannot be read: {}", std::strerror(errno)));
  }
  if (!S_ISREG(status.st_mode)) refuse("cannot be read: not a regular file");
  if (static_cast<std::uint64_t>(status.st_size) > most_bytes) {
    refuse(fmt::format("is of {} bytes; allowed are {}", status.st_size, most_bytes));
  }
  note_input(path);
  std::ifstream file(path, std::ios::binary);
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  file.read(text.data(), status.st_size);
  text.resize(static_cast<std::size_t>(file.gcount()));  // less, if the file was cut meanwhile
  if (!file && !file.eof()) refuse(fmt::format("cannot be read: {}", std::strerror(errno)));
  return text;
}

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
  open_stream(descriptor);
}

void AtomicFile::open_stream(int descriptor) {
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
  open_stream(descriptor);
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

namespace {

using config::ConfigError;

// Canonical path: links resolved, also to missing files.
std::string settled(const std::string& path) {
  std::error_code error;
  std::filesystem::path at = std::filesystem::absolute(path, error);
  for (int links = 0; links < 40 && std::filesystem::is_symlink(at, error); ++links) {
    at = at.parent_path() / std::filesystem::read_symlink(at, error);
  }
  return std::filesystem::weakly_canonical(at, error).string();
}

bool same_file(const std::string& a, const std::string& b) {
  struct stat one {
  }, other{};
  if (::stat(a.c_str(), &one) == 0 && ::stat(b.c_str(), &other) == 0) {
    if (S_ISCHR(one.st_mode)) return false;  // /dev/null accepts several outputs
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
  }
  return settled(a) == settled(b);
}

void refuse_input(const std::string& option, const std::string& path) {
  const std::string input = input_at(path);
  if (input.empty()) return;
  throw ConfigError(
      fmt::format("{}: {} is read by this command, too, and would be lost; allowed is another file", option, path));
}

// Turns SIGPIPE into a write error.
class PipesDoNotKill {
 public:
  PipesDoNotKill() : before_(std::signal(SIGPIPE, SIG_IGN)) {}
  ~PipesDoNotKill() { std::signal(SIGPIPE, before_); }
  PipesDoNotKill(const PipesDoNotKill&) = delete;
  PipesDoNotKill& operator=(const PipesDoNotKill&) = delete;

 private:
  void (*before_)(int);
};

}  // namespace

Output* Outputs::open(const std::string& option, const std::string& path) {
  if (path.empty()) return nullptr;
  if (path == "-") throw ConfigError(fmt::format("{}: found '-'; allowed is a file", option));
  for (const Output& other : outputs_) {
    if (same_file(other.path_, path)) {
      throw ConfigError(fmt::format("{} and {} are both to write {}", other.option_, option, path));
    }
  }
  refuse_input(option, path);
  if (!is_stream(path)) {
    const AtomicFile probe(path);  // streams are not probed: their reader takes the first close for the end
  } else if (::access(path.c_str(), W_OK) != 0) {
    throw ConfigError(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
  }
  return &outputs_.emplace_back(option, path);
}

void Outputs::commit() {
  const PipesDoNotKill guard;
  std::vector<std::unique_ptr<AtomicFile>> files;
  // Streams last: data written to a pipe cannot be withdrawn.
  for (const bool streams : {false, true}) {
    for (const Output& output : outputs_) {
      if (!output.written_ || is_stream(output.path_) != streams) continue;
      refuse_input(output.option_, output.path_);
      files.push_back(std::make_unique<AtomicFile>(output.path_));
      files.back()->write(output.text_);
      files.back()->close();
    }
  }
  for (const auto& file : files) file->commit();
  outputs_.clear();
}

}  // namespace attnvp::files
