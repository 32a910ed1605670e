#include "platform/text/line_width.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace attnvp::text {

namespace {

constexpr std::size_t kLeast = 20, kMost = 10'000;

std::size_t width_of(int file) {
  struct winsize size {};
  const bool known = ::isatty(file) != 0 && ::ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col >= kLeast;
  return known ? size.ws_col : kUnlimited;
}

}  // namespace

std::size_t line_width() {
  if (const char* const columns = std::getenv("COLUMNS"); columns != nullptr) {
    char* end = nullptr;
    const unsigned long value = std::strtoul(columns, &end, 10);
    if (end != columns && *end == '\0' && value >= kLeast && value <= kMost) return value;
  }
  return width_of(STDOUT_FILENO);
}

std::size_t message_width() { return width_of(STDERR_FILENO); }

}  // namespace attnvp::text
