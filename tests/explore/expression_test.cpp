// Constraints and formulas of sweeps.
#include "explore/sweep/expression.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/platform/test_files.h"

namespace attnvp::explore {
namespace {

using testing::message_of;

const Symbols kSymbols = {{"l1.size", {Kind::kNumber, {1, 0, 0}}},
                          {"clusters", {Kind::kNumber, {}}},
                          {"dram.bandwidth", {Kind::kNumber, {1, -1, 0}}},
                          {"clock", {Kind::kNumber, {0, -1, 0}}},
                          {"dataflow", {Kind::kText, {}}}};
Quantity value(const std::string& name) {
  static const std::map<std::string, Quantity> values = {{"l1.size", 2.0 * 1024 * 1024},
                                                         {"clusters", 3.0},
                                                         {"dram.bandwidth", 30e9},
                                                         {"clock", 3e9},
                                                         {"dataflow", std::string("mas")}};
  return values.at(name);
}

TEST(Expression, HoldsOrNot) {
  const std::vector<std::pair<const char*, bool>> cases = {
      {"l1.size * clusters <= 8 MiB", true},
      {"l1.size * clusters <= 6 MiB", true},
      {"l1.size * clusters < 6 MiB", false},
      {"l1.size*clusters>=6MiB", true},
      {"dram.bandwidth / clock == 10 B", true},
      {"dram.bandwidth < 30 GB/s", false},
      {"30 GB/s / 2 < dram.bandwidth", true},
      {"dataflow = 'mas' and not clusters == 2", true},
      {"dataflow != 'mas' or clusters % 2 = 1", true},
      {"1 + 2 * 3 == 7 && (1 + 2) * 3 == 9", true},
      {"2 - 1 - 1 == 0 and 8 / 2 / 2 == 2", true},
      {"min(clusters, 2) == 2 and max(clusters, 2) == 3", true},
      {"floor(2.5) == 2 and ceil(2.5) == 3 and round(2.6) == 3", true},
      {"-clusters < -2", true},
      {"1e3 == 1000 or clusters == 0", true},
      {"10 ns * clock == 30", true},
  };
  for (const auto& [text, holds] : cases) {
    EXPECT_EQ(Expression::condition(text, kSymbols, {"test"}).holds(value), holds) << text;
  }
}

TEST(Expression, RefusesWhatMakesNoSense) {
  const std::vector<std::pair<std::string, const char*>> cases = {
      {"l1.size <= 8", "needs two of a kind, found bytes and a plain number"},
      {"l1.size + clock < 1", "needs two of a kind"},
      {"l1.sice <= 8 MiB", "did you mean 'l1.size'"},
      {"l1.size <= 8 MiBB", "unit 'MiBB' is unknown"},
      {"l1.size <=", "ends where a value is expected"},
      {"(l1.size <= 8 MiB", "')' is expected"},
      {"l1.size", "allowed is a condition"},
      {"dataflow < 'mas'", "not for texts"},
      {"dataflow == mas", "texts are in quotes"},
      {"dataflow == 'mas", "without its closing quote"},
      {"sqrt(clusters) > 1", "function 'sqrt' is unknown"},
      {"clusters and 1", "and needs a condition"},
      {"1 < 2 < 3", "an operator is expected"},
      {"", "ends where a value"},
      {"clusters * 1.2.3 > 1", "found '1.2.3'"},
      {std::string(1000, '(') + "1", "nested too deeply"},
  };
  for (const auto& [text, what] : cases) {
    const std::string said = message_of([&, t = text] { Expression::condition(t, kSymbols, {"test"}); });
    EXPECT_NE(said.find(what), std::string::npos) << text << ": " << said;
    EXPECT_EQ(said.rfind("test: ", 0), 0U) << said;
  }
}

}  // namespace
}  // namespace attnvp::explore
