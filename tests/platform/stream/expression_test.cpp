#include "platform/stream/expression.h"

#include "tests/platform/test_files.h"

namespace attnvp::stream {
namespace {

using attnvp::testing::message_of;

std::int64_t value(const std::string& text) { return evaluate(text, {{"N", 65}, {"d", 4}}); }

TEST(Expression, ComputesWhatItSays) {
  EXPECT_EQ(value("7"), 7);
  EXPECT_EQ(value(" N+24 + 10"), 99);
  EXPECT_EQ(value("2*(N-1)*d"), 512);
  EXPECT_EQ(value("2 + 3 * 4 - 1 - 1"), 12);
  EXPECT_EQ(value("N/2/2"), 16);
  EXPECT_EQ(value("(1 - 2) / 2"), -1);  // rounds down
  EXPECT_EQ(value("max(2, N/2) + min(d, 3)"), 35);
  EXPECT_EQ(value("max(1,(2))"), 2);
}

TEST(Expression, SaysWhatIsWrong) {
  const auto wrong = [](const std::string& text) { return message_of([&] { value(text); }); };
  EXPECT_EQ(wrong(""), "found '': a number is missing at the end");
  EXPECT_EQ(wrong("N +"), "found 'N +': a number is missing at the end");
  EXPECT_EQ(wrong("* 2"), "found '* 2': a number is missing");
  EXPECT_EQ(wrong("-1"), "found '-1': a number is missing");
  EXPECT_EQ(wrong("2 N"), "found '2 N': 'N' is one too many");
  EXPECT_EQ(wrong("1.5"), "found '1.5': '.5' is one too many");
  EXPECT_EQ(wrong("(N"), "found '(N': ')' is missing at the end");
  EXPECT_EQ(wrong("max(1)"), "found 'max(1)': ',' is missing");
  EXPECT_EQ(wrong("M + 1"), "found 'M + 1': 'M' is unknown; allowed: numbers, min, max, N, d");
  EXPECT_EQ(wrong("N/(d-4)"), "found 'N/(d-4)': it divides by a number that is not positive");
  EXPECT_EQ(wrong("9223372036854775807 + 1"), "found '9223372036854775807 + 1': its value is out of range");
  EXPECT_EQ(wrong("99999999999999999999"), "found '99999999999999999999': a number is out of range");
  EXPECT_NE(wrong(std::string(100, '(')).find("nested too deeply"), std::string::npos);
}

}  // namespace
}  // namespace attnvp::stream
