#include "platform/text/version.h"

namespace attnvp::text {

std::string version() { return ATTNVP_VERSION; }
std::string generator() { return "AttnVP " + version(); }

}  // namespace attnvp::text
