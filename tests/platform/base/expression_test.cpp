// Expressions of sweeps, fronts and streaming graphs.
#include "platform/base/expression/expression.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/platform/test_files.h"

namespace attnvp::expression {
namespace {

using testing::message_of;

const Symbols kSymbols = {{"l1.size", {QuantityKind::kNumber, {1, 0, 0}}},
                          {"clusters", {QuantityKind::kNumber, {}}},
                          {"dram.bandwidth", {QuantityKind::kNumber, {1, -1, 0}}},
                          {"clock", {QuantityKind::kNumber, {0, -1, 0}}},
                          {"dataflow", {QuantityKind::kText, {}}}};
Quantity value(const std::string& name) {
  static const std::map<std::string, Quantity> values = {{"l1.size", 2.0 * 1024 * 1024},
                                                         {"clusters", 3.0},
                                                         {"dram.bandwidth", 30e9},
                                                         {"clock", 3e9},
                                                         {"dataflow", std::string("mas")}};
  return values.at(name);
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
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
      {"not not clusters == 3", true},
      {"clusters == 3 and not (clusters == 2 or not dataflow == 'mas')", true},
      {"-2 * -3 == 6 and - -1 == 1 and 2 - -1 == 3", true},
      {"min(max(1, clusters), floor(7 / 2)) == 3", true},
      {"dataflow == \"mas\"", true},
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
      {"1 == not clusters == 1", "found 'not clusters == 1' where a value is expected"},
      {"(1", "found the end where ')' is expected"},
      {"1) == 1", "found ') == 1' where an operator is expected"},
      {"1, 2", "found ',' where an operator is expected"},
      {"min(1) == 1", "found ') == 1' where ',' is expected"},
      {"min(1, 2, 3) == 1", "found ', 3) == 1' where ')' is expected"},
      {"floor(1, 2) == 1", "found ', 2) == 1' where ')' is expected"},
      {"() == 1", "found ') == 1' where a value is expected"},
      {std::string(1001, '(') + "1", "nested too deeply"},
      {std::string(100000, '-') + "1", "nested too deeply"},
      {"1" + repeated(" + 1", 100000) + " > 0", "has more than 200000 values and operators"},
  };
  for (const auto& [text, what] : cases) {
    const std::string said = message_of([&, t = text] { Expression::condition(t, kSymbols, {"test"}); });
    EXPECT_NE(said.find(what), std::string::npos) << text << ": " << said;
    EXPECT_EQ(said.rfind("test: ", 0), 0U) << said;
  }
}

// Neither reading nor computing nests, and neither takes more than time in proportion to the text.
TEST(Expression, LongAndDeepOnesAreNoTrouble) {
  const std::string terms = "clusters" + repeated(" + clusters", 80000) + " > 0";
  EXPECT_TRUE(Expression::condition(terms, kSymbols, {"test"}).holds(value));
  const std::string functions = repeated("floor(", 900) + "clusters" + repeated(")", 900);
  EXPECT_EQ(Expression::number(functions, kSymbols, {"test"}).value(value), 3);
  const std::string both = "clusters == 3" + repeated(" and clusters == 3", 40000);
  EXPECT_TRUE(Expression::condition(both, kSymbols, {"test"}).holds(value));
}

std::int64_t whole(const std::string& text) { return whole_number(text, {{"N", 65}, {"d", 4}}, {}); }

TEST(WholeNumber, ComputesWhatItSays) {
  EXPECT_EQ(whole("7"), 7);
  EXPECT_EQ(whole(" N+24 + 10"), 99);
  EXPECT_EQ(whole("2*(N-1)*d"), 512);
  EXPECT_EQ(whole("2 + 3 * 4 - 1 - 1"), 12);
  EXPECT_EQ(whole("N/2/2"), 16);
  EXPECT_EQ(whole("(1 - 2) / 2"), -1);  // rounds down
  EXPECT_EQ(whole("max(2, N/2) + min(d, 3)"), 35);
  EXPECT_EQ(whole("max(1,(2))"), 2);
  EXPECT_EQ(whole("9007199254740991 / 2"), 4503599627370495);
  EXPECT_EQ(whole("9007199254740991 / 9007199254740990"), 1);
  EXPECT_EQ(whole("-N % d"), -1);
}

TEST(WholeNumber, SaysWhatIsWrong) {
  const auto wrong = [](const std::string& text) { return message_of([&] { whole(text); }); };
  EXPECT_EQ(wrong(""), "expression '': ends where a value is expected");
  EXPECT_EQ(wrong("N +"), "expression 'N +': ends where a value is expected");
  EXPECT_EQ(wrong("* 2"), "expression '* 2': found '* 2' where a value is expected");
  EXPECT_EQ(wrong("2 N"), "expression '2 N': unit 'N' is unknown");
  EXPECT_EQ(wrong("N N"), "expression 'N N': found 'N' where an operator is expected");
  EXPECT_EQ(wrong("1.5"), "expression '1.5': found '1.5', allowed are whole numbers up to 9007199254740991");
  EXPECT_EQ(wrong("(N"), "expression '(N': found the end where ')' is expected");
  EXPECT_EQ(wrong("max(1)"), "expression 'max(1)': found ')' where ',' is expected");
  EXPECT_EQ(wrong("M + 1"), "expression 'M + 1': 'M' is unknown; allowed: N, d");
  EXPECT_EQ(wrong("mumble"), "expression 'mumble': 'mumble' is unknown; allowed: N, d");
  EXPECT_EQ(wrong("N/(d-4)"), "expression 'N/(d-4)': it divides by a number that is not positive");
  EXPECT_EQ(wrong("9007199254740991 + 1 + 1"), "expression '9007199254740991 + 1 + 1': its value is out of range");
  EXPECT_NE(wrong("99999999999999999999").find("allowed are whole numbers"), std::string::npos);
  EXPECT_EQ(wrong("8 KiB"), "expression '8 KiB': found bytes, allowed is a plain number");
  EXPECT_EQ(wrong("N = 2"), "expression 'N = 2': found a condition, allowed is a number");
}

}  // namespace
}  // namespace attnvp::expression
