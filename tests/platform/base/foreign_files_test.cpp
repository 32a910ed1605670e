// Text files as other programs write them: byte order marks, quoted cells, YAML with merge keys.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "platform/machine/document.h"
#include "platform/workload/workload.h"
#include "tests/platform/test_files.h"

namespace attnvp::workload {

using namespace config;

namespace {

using attnvp::testing::message_of;
using attnvp::testing::TemporaryFolder;

class Csv : public ::testing::Test {
 protected:
  std::vector<std::vector<std::string>> read(const std::string& text) {
    std::vector<std::vector<std::string>> cells;
    for (const CsvLine& line : read_csv_table(folder_.write("t.csv", text))) cells.push_back(line.cells);
    return cells;
  }
  std::string refusal(const std::string& text) {
    return message_of([&] { read(text); });
  }
  TemporaryFolder folder_;
};

using Cells = std::vector<std::vector<std::string>>;

TEST_F(Csv, ReadsByteOrderMarksAndQuotedCells) {
  const Cells plain = {{"a", "b"}, {"1", "2"}};
  EXPECT_EQ(read("\xEF\xBB\xBF"
                 "a,b\n1,2\n"),
            plain);
  EXPECT_EQ(read("\"a\",\"b\"\r\n\"1\", \"2\" \r\n"), plain);
  EXPECT_EQ(read("a,b\n\"1,5\",\"say \"\"2\"\"\"\n"), (Cells{{"a", "b"}, {"1,5", "say \"2\""}}));
  EXPECT_EQ(read("a,b\n1,\"two\nlines\"\n"), (Cells{{"a", "b"}, {"1", "two\nlines"}}));
  EXPECT_EQ(read("# c\n\na,b\n# d\n1,"), (Cells{{"a", "b"}, {"1", ""}}));
  EXPECT_EQ(read("a,b,,\n1,2,,\n"), (Cells{{"a", "b", "", ""}, {"1", "2", "", ""}}));
}

TEST_F(Csv, LinesAreCountedWithinQuotedCells) {
  EXPECT_EQ(refusal("a,b\n1,\"two\nlines\"\n3\n"), "t.csv:4: found 1 cells, the first line has 2");
}

TEST_F(Csv, RefusesWhatIsNoTable) {
  EXPECT_EQ(refusal("a,b,a\n1,2,3\n"), "t.csv:1: column 'a' is there twice");
  EXPECT_EQ(refusal("\"a\",b,a\n1,2,3\n"), "t.csv:1: column 'a' is there twice");
  EXPECT_EQ(refusal("a,b\n1,\"2\n"), "t.csv:2: a quoted cell does not end");
  EXPECT_EQ(refusal("a,b\n\"1\"x,2\n"),
            "t.csv:2: found 'x' behind a quoted cell; allowed is a comma, or the line's end");
  EXPECT_EQ(refusal("a;b\n1;2\n"), "t.csv:1: the cells have no commas between them; allowed is a table with commas");
}

TEST(Documents, ReadAByteOrderMark) {
  TemporaryFolder folder;
  const std::string net = folder.write("net.yaml", "\xEF\xBB\xBFheads: 2\nseq: 32\nemb: 16\n");
  EXPECT_EQ(load(net).attention().heads, 2U);
  folder.write("mask.txt",
               "\xEF\xBB\xBF"
               "block 16\n10\n11\n");
  EXPECT_EQ(load("H=1,N=32,E=16,block_mask=mask.txt").attention().mask.block, 16);
}

TEST(Documents, RefuseMergeKeysAndNoOthers) {
  const auto refusal = [](const std::string& text) { return message_of([&] { Document::parse(text, "x.yaml"); }); };
  const std::string sentence = "merge key '<<' is not supported; allowed is to write the merged keys out";
  EXPECT_EQ(refusal("a: &a {b: 1}\nc:\n  <<: *a\n  d: 2\n"), "x.yaml:3: " + sentence);
  EXPECT_EQ(refusal("a: &a {b: 1}\nc: {d: [1, {<<: [*a]}]}\n"), "x.yaml:2: " + sentence);
  EXPECT_EQ(refusal("? [1, 2]\n: {x: y}\n<<: {z: 1}\n"), "x.yaml:3: " + sentence);
  for (const char* text : {"a: <<\n", "a: [<<, b]\n", "\"<<\": 1\n", "a: {b: <<, c: <<}\n", "a:\nb: <<\n"}) {
    EXPECT_NO_THROW(Document::parse(text, "x.yaml")) << text;
  }
}

TEST(Documents, CopyWhatAliasesName) {
  const Document document = Document::parse("a: &x [1, {b: 2}]\nc: *x\n", "x.yaml");
  const YamlNode copy = document.root()["c"];
  ASSERT_TRUE(copy.is_list());
  EXPECT_EQ(copy.size(), 2U);
  EXPECT_EQ((*++copy.begin())["b"].scalar(), "2");
  const auto refusal = [](const std::string& text) { return message_of([&] { Document::parse(text, "x.yaml"); }); };
  EXPECT_EQ(refusal("a: 1\nb: *x\n"), "x.yaml:2: not valid YAML: the referenced anchor is not defined");
  EXPECT_EQ(refusal("a: &x [*x]\n"), "x.yaml:1: not valid YAML: an alias stands within the node that it names");
  std::string many = "a0: &a0 [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]\n";
  for (int i = 1; i < 8; ++i) {
    many += fmt::format("a{}: &a{} [", i, i);
    for (int k = 0; k < 10; ++k) many += fmt::format("{}*a{}", k == 0 ? "" : ", ", i - 1);
    many += "]\n";
  }
  EXPECT_EQ(refusal(many), "x.yaml:6: has more than 1048576 nodes; allowed are so many");
}

TEST(Documents, KeepLinesTextsAndNothing) {
  const Document document = Document::parse("a:\nb: ~\nc: ''\n\nd: >-\n  x\n  y\n\"e\": {f: !!str null}\n", "x.yaml");
  const YamlNode root = document.root();
  EXPECT_TRUE(root["a"].is_nothing() && root["b"].is_nothing());
  EXPECT_TRUE(root["c"].is_scalar());
  EXPECT_EQ(root["d"].scalar(), "x y");
  EXPECT_EQ(root["d"].line(), 5);
  EXPECT_EQ(root["e"]["f"].scalar(), "null");
  EXPECT_FALSE(root["g"]);
  EXPECT_FALSE(root["g"]["h"]);
  EXPECT_EQ(root.size(), 5U);
}

TEST(NetworkText, NamesFilesAsSeenFromAFolder) {
  const auto seen = [](const std::string& text) { return with_absolute_paths(text, "/far/away"); };
  for (const char* same : {"bert-base", "bert-base,phase=decode,cache=64", "H=1,N=16,E=16,scale=1/sqrt(E)",
                           "gemm:64x64x64,type=int8", "/there/net.yaml", "hf:/there/gpt2,N=64"}) {
    EXPECT_EQ(seen(same), same);
  }
  EXPECT_EQ(seen("net.yaml"), "/far/away/net.yaml");
  EXPECT_EQ(seen("../net.yaml,phase=decode,cache=64"), "/far/net.yaml,phase=decode,cache=64");
  EXPECT_EQ(seen("hf:gpt2"), "hf:/far/away/gpt2");
  EXPECT_EQ(seen("hf:./gpt2,N=64,bias=b.npy"), "hf:/far/away/gpt2,N=64,bias=/far/away/b.npy");
  EXPECT_EQ(seen("H=1,N=32,E=16,bias=b.npy,causal=1"), "H=1,N=32,E=16,bias=/far/away/b.npy,causal=1");
  EXPECT_EQ(seen("bert-base, block_mask = m.txt"), "bert-base, block_mask =/far/away/m.txt");
}

}  // namespace
}  // namespace attnvp::workload
