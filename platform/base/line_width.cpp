#include "platform/base/line_width.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace attnvp::text {

namespace {

constexpr std::size_t kLeast = 20, kMost = 10'000, kDefault = 100;

std::size_t width_of(int file, std::size_t otherwise) {
  struct winsize size {};
  const bool known = ::isatty(file) != 0 && ::ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col >= kLeast;
  return known ? size.ws_col : otherwise;
}

}  // namespace

std::size_t line_width() {
  if (const char* const columns = std::getenv("COLUMNS"); columns != nullptr) {
    char* end = nullptr;
    const unsigned long value = std::strtoul(columns, &end, 10);
    if (end != columns && *end == '\0' && value >= kLeast && value <= kMost) return value;
  }
  return width_of(STDOUT_FILENO, kDefault);
}

std::size_t message_width() { return width_of(STDERR_FILENO, kUnlimited); }

}  // namespace attnvp::text
