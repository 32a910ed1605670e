// Text from outside, made fit to be shown.
#include <gtest/gtest.h>

#include "platform/base/text.h"

namespace attnvp::text {
namespace {

TEST(Printable, KeepsTextAndEscapesTheRest) {
  EXPECT_EQ(printable("plain, Größe, 漢字, 🙂"), "plain, Größe, 漢字, 🙂");
  EXPECT_EQ(printable("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(printable("\x1b[31mred"), "\\x1b[31mred");
  EXPECT_EQ(printable(std::string("nul\0!", 5)), "nul\\x00!");
  EXPECT_EQ(printable("\x7f"), "\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\u009b");      // a C1 control in UTF-8
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\u202e");  // right to left
  EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");           // too long a form of '/'
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(printable("cut \xe6\xbc"), "cut \\xe6\\xbc");
}

TEST(Printable, CutsOffWhatIsTooLong) {
  EXPECT_EQ(printable("abcdef", 6), "abcdef");
  EXPECT_EQ(printable("abcdefg", 6), "abcdef...");
  EXPECT_EQ(printable("äöüß", 3), "äöü...");
  EXPECT_EQ(printable("ab\xff", 4), "ab...");  // an escape is not cut in two
  EXPECT_LT(printable(std::string(1 << 20, '\xff')).size(), 2100u);
}

TEST(Printable, SaysWhereUtf8Ends) {
  EXPECT_EQ(first_not_utf8("Größe"), std::string::npos);
  EXPECT_EQ(first_not_utf8("ab\xffz"), 2u);
  EXPECT_TRUE(is_printable("Größe"));
  EXPECT_FALSE(is_printable("a\tb"));
  EXPECT_FALSE(is_printable("\xff"));
}

TEST(Fill, ReplacesEachMarkOnceAndNothingThatWasFilledIn) {
  EXPECT_EQ(fill("<@A@|@B@|@A@>", {{"A", "@B@"}, {"B", "@A@ $1 \\"}}), "<@B@|@A@ $1 \\|@B@>");
  EXPECT_EQ(fill("a@b.c and @A@, @unknown@, @", {{"A", "x"}}), "a@b.c and x, @unknown@, @");
  EXPECT_EQ(fill("@A", {{"A", "x"}}), "@A");
  EXPECT_EQ(fill("", {}), "");
}

}  // namespace
}  // namespace attnvp::text
