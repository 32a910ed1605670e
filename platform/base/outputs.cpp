#include "platform/base/outputs.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

#include "platform/base/atomic_file.h"
#include "platform/base/input.h"
#include "platform/machine/error.h"

namespace attnvp::files {

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
