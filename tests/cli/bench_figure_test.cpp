#include <gtest/gtest.h>

#include "cli/commands.h"

namespace attnvp::cli {
namespace {

const char* const kTable =
    "bert-base / mas on edge                              time     rate or ratio\n"
    "-------------------------------------------  ------------  ----------------\n"
    "timing simulation, not elaborated again           15.0 ms         67 runs/s\n"
    "  of which simulation events                 17159 events    1.14 Mevents/s\n"
    "tiling search, 200 simulations                     5.11 s  39 evaluations/s\n";

TEST(BenchFigures, AreReadBackFromATable) {
  const Figures figures = parse_figures(kTable);
  ASSERT_EQ(figures.size(), 3U);
  EXPECT_EQ(figures[0].label, "timing simulation, not elaborated again");
  EXPECT_DOUBLE_EQ(figures[0].seconds, 0.015);
  EXPECT_EQ(figures[0].rate, "67 runs/s");
  EXPECT_EQ(figures[1].label, "  of which simulation events");
  EXPECT_EQ(figures[1].seconds, 0);
  EXPECT_EQ(figures[1].time, "17159 events");
  EXPECT_DOUBLE_EQ(figures[2].seconds, 5.11);
  EXPECT_TRUE(parse_figures("nothing\n").empty());
}

TEST(BenchFigures, TheBetterOfTwoRoundsCounts) {
  Figures a = parse_figures(kTable), b = a;
  b[0].seconds = 0.01;
  b[0].rate = "100 runs/s";
  b[2].seconds = 6;
  const Figures best = better(a, b);
  EXPECT_EQ(best[0].rate, "100 runs/s");
  EXPECT_DOUBLE_EQ(best[2].seconds, 5.11);
}

}  // namespace
}  // namespace attnvp::cli
