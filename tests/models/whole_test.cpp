#include "models/sim/whole.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace attnvp {
namespace {

void expect_as_the_library_rounds(double x) {
  EXPECT_EQ(whole_above(x), static_cast<std::uint64_t>(std::ceil(x))) << x;
  EXPECT_EQ(whole_nearest(x), static_cast<std::uint64_t>(std::llround(x))) << x;
}

TEST(Whole, NumbersNextToWholesAndHalves) {
  constexpr double kMost = std::numeric_limits<double>::max();
  for (const double at : {0.5, 1.0, 1.5, 2.0, 2.5, 4096.5, 1e9, 1e15 + 0.5, 4503599627370495.5, 9e15, 9e18}) {
    for (const double x : {std::nextafter(at, 0.0), at, std::nextafter(at, kMost)}) expect_as_the_library_rounds(x);
  }
  expect_as_the_library_rounds(0);
}

TEST(Whole, NumbersOfAllSizes) {
  std::mt19937 random(1);
  for (int i = 0; i < 100000; ++i) {
    const int bits = static_cast<int>(random() % 62);
    expect_as_the_library_rounds(std::ldexp(1 + static_cast<double>(random()) / 4294967296.0, bits - 2));
  }
}

// What slack that is taken off makes of nothing.
TEST(Whole, AboveALittleLessThanNothingIsNothing) { EXPECT_EQ(whole_above(-1e-9), 0U); }

}  // namespace
}  // namespace attnvp
