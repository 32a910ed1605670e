#include "platform/machine/catalog.h"
#include "platform/machine/words.h"
#include "platform/report/report.h"
#include "tests/platform/test_files.h"

namespace attnvp::config {
namespace {

using attnvp::testing::message_of;
using attnvp::testing::read_file;
using attnvp::testing::TemporaryFolder;

class Catalog : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv("ATTNVP_CONFIGS", folder_.path().c_str(), 1); }
  void TearDown() override { ::unsetenv("ATTNVP_CONFIGS"); }

  TemporaryFolder folder_;
};

TEST_F(Catalog, TheEnvironmentChoosesTheFolder) {
  EXPECT_EQ(config_root(), folder_.path());
  ::setenv("ATTNVP_CONFIGS", "/nonexistent", 1);
  EXPECT_EQ(message_of([] { config_root(); }),
            "environment variable ATTNVP_CONFIGS names '/nonexistent', which is not a folder; allowed is one "
            "that holds "
            "hardware/, networks/ and energy/");
  ::setenv("ATTNVP_CONFIGS", "", 1);
  EXPECT_NE(config_root(), "");
}

TEST_F(Catalog, ListsNamesSortedWithTheirFirstLine) {
  folder_.write("hardware/b.yaml", "# The second\ncores: 1\n");
  folder_.write("hardware/a.yaml", "cores: 1\n# not the first line\n");
  folder_.write("hardware/notes.txt", "# no\n");
  folder_.write("hardware/c.yaml/inside.yaml", "# no\n");
  const std::vector<CatalogEntry> entries = list(Folder::kHardware);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].name, "a");
  EXPECT_EQ(entries[0].description, "");
  EXPECT_EQ(entries[1].name, "b");
  EXPECT_EQ(entries[1].description, "The second");
  EXPECT_EQ(entries[1].path, folder_.path("hardware/b.yaml"));
  EXPECT_TRUE(list(Folder::kSweeps).empty());
}

TEST_F(Catalog, AnUnknownNameSaysWhatExists) {
  EXPECT_EQ(message_of([] { find_config(Folder::kEnergy, "pat"); }),
            "'pat' is not in energy; allowed is a path such as ./my.yaml");
  folder_.write("energy/pat.yaml", "");
  folder_.write("energy/other.yaml", "");
  EXPECT_EQ(message_of([] { find_config(Folder::kEnergy, "pta"); }),
            "'pta' is not in energy; did you mean 'pat' (all: attnvp list energy)?");
  EXPECT_EQ(message_of([] { find_config(Folder::kEnergy, "othr"); }),
            "'othr' is not in energy; did you mean 'other' (all: attnvp list energy)?");
  EXPECT_EQ(message_of([] { find_config(Folder::kEnergy, ""); }).substr(0, 13), "'' is not in ");
  EXPECT_EQ(find_config(Folder::kEnergy, "pat"), folder_.path("energy/pat.yaml"));
}

TEST_F(Catalog, PathsAreRelativeToTheFolderOfTheFileThatSaysThem) {
  folder_.write("x/y.yaml", "");
  EXPECT_EQ(find_config(Folder::kHardware, "./y.yaml", folder_.path("x")), folder_.path("x/y.yaml"));
  EXPECT_EQ(find_config(Folder::kHardware, folder_.path("x/y.yaml"), "/elsewhere"), folder_.path("x/y.yaml"));
  EXPECT_EQ(message_of([&] { find_config(Folder::kHardware, "z.yml", folder_.path("x")); }), "x/z.yml: no such file");
}

TEST(Reference, ReadmeIsWhatTheTablesSay) {
  const std::string path = config_root() + "/README.md";
  if (::getenv("ATTNVP_UPDATE_REFERENCE") != nullptr)
    std::ofstream(path, std::ios::binary) << report::reference_markdown();
  EXPECT_EQ(read_file(path), report::reference_markdown())
      << "run this test with ATTNVP_UPDATE_REFERENCE=1 to rewrite " << path;
}

TEST(Words, NearestForgivesSlipsOnly) {
  const std::vector<std::string> known = {"l1.size", "dram.bandwidth", "clock"};
  EXPECT_EQ(nearest("l1.siz", known), "l1.size");
  EXPECT_EQ(nearest("CLOCK", known), "clock");
  EXPECT_EQ(nearest("bandwidth", known), "dram.bandwidth");
  EXPECT_EQ(nearest("zebra", known), "");
  const std::vector<std::string> names = {"edge", "edge-16nm", "flash2", "flash3", "h100", "h200", "type"};
  EXPECT_EQ(nearest("edge16", names), "edge-16nm");
  EXPECT_EQ(nearest("edg", names), "edge");
  EXPECT_EQ(nearest("flashattention2", names), "flash2");
  EXPECT_EQ(nearest("Flash-Attention-3", names), "flash3");
  EXPECT_EQ(nearest("h100sxm", names), "h100");
  EXPECT_EQ(nearest("dtype", names), "type");
  EXPECT_EQ(nearest("x", names), "");
  EXPECT_EQ(nearest("", known), "");
  EXPECT_EQ(nearest(std::string(1000000, 'x'), known), "");
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("egde", "Edge"), 1u);
}

TEST(Words, QuotesFitOnOneLine) {
  EXPECT_EQ(in_quotes("a\nb\x1b[0m"), "'a\\nb\\x1b[0m'");
  EXPECT_EQ(in_quotes(std::string(500, 'x')), "'" + std::string(80, 'x') + "...'");
}

}  // namespace
}  // namespace attnvp::config
