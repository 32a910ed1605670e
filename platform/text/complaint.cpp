#include "platform/text/complaint.h"

#include <cstdio>

#include "platform/text/printable.h"

namespace attnvp::text {

void complain(std::string_view sentence) {
  std::fflush(stdout);  // in order, where both go to one place
  std::fprintf(stderr, "attnvp: %s\n", printable(sentence).c_str());
}

}  // namespace attnvp::text
