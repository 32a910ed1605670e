#include "platform/base/input.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>

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
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) refuse(fmt::format("cannot be read: {}", std::strerror(errno)));
  return text;
}

}  // namespace attnvp::files
