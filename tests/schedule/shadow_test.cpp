// What shares bytes with what, and what nobody has written, against pictures of the bytes.
#include <gtest/gtest.h>

#include <vector>

#include "platform/schedule/check/trackers.h"

namespace attnvp {
namespace {

// Rows of all kinds against a picture of the bytes.
TEST(CheckerRegions, AreExact) {
  std::uint32_t state = 1;
  const auto next = [&](std::uint32_t below) {
    state = state * 1664525 + 1013904223;
    return (state >> 10) % below;
  };
  for (int i = 0; i < 20000; ++i) {
    const auto region = [&] {
      Region r;
      r.address = next(40);
      r.rows = 1 + next(6);
      r.row_bytes = 1 + next(6);
      r.row_stride = r.row_bytes + next(8);
      return schedule::check::simplified(r);
    };
    const auto picture = [](const Region& r) {
      std::vector<bool> bytes(256);
      for (std::uint64_t row = 0; row < r.rows; ++row) {
        for (std::uint64_t b = 0; b < r.row_bytes; ++b) bytes[r.address + row * r.row_stride + b] = true;
      }
      return bytes;
    };
    const Region a = region(), b = region(), c = region();
    const std::vector<bool> in_a = picture(a), in_b = picture(b), in_c = picture(c);
    bool shared = false, within = true;
    schedule::check::Interval hole;
    for (std::size_t at = 0; at < in_a.size(); ++at) {
      shared = shared || (in_a[at] && in_b[at]);
      within = within && (!in_b[at] || in_a[at]);
      const bool missing = in_a[at] && !in_b[at] && !in_c[at];
      if (missing && !hole.any()) hole = {at, at + 1};
    }
    ASSERT_EQ(schedule::check::share_a_byte(a, b), shared) << i;
    ASSERT_TRUE(within || !schedule::check::contains(a, b)) << i;
    schedule::check::Shadow shadow;
    const auto none = [](const schedule::check::Touch&) { return false; };
    shadow.touch({b, 1, 0, true}, none);
    shadow.touch({c, 2, 0, true}, none);
    const schedule::check::Interval found = shadow.unwritten(a);
    ASSERT_EQ(found.any(), hole.any()) << i;
    ASSERT_TRUE(!hole.any() || found.low == hole.low) << i;
  }
}

}  // namespace
}  // namespace attnvp
