#include "platform/text/version.h"

#include <utility>

namespace attnvp::text {

namespace {
std::string& current() {
  static std::string text;
  return text;
}
}  // namespace

std::string version() { return ATTNVP_VERSION; }
std::string command() { return current(); }
void set_command(std::string text) { current() = std::move(text); }
std::string generator() { return "AttnVP " + version(); }

}  // namespace attnvp::text
