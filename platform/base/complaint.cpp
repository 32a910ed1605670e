#include "platform/base/complaint.h"

#include <cstdio>

#include "platform/base/printable.h"

namespace attnvp::text {

void complain(std::string_view sentence) {
  std::fflush(stdout);  // keeps the order if both go to the same file
  std::fprintf(stderr, "attnvp: %s\n", printable(sentence).c_str());
}

}  // namespace attnvp::text
