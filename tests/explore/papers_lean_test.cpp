// The page of `attnvp reproduce lean` is what the command writes today; most of a minute, therefore labelled long.
#include <gtest/gtest.h>

#include "explore/papers/papers.h"
#include "platform/machine/catalog.h"
#include "platform/machine/document.h"

namespace attnvp::papers {
namespace {

TEST(ReproduceLean, PageIsFreshAndPartitionsAreThePapers) {
  const StudyReport report = lean("a100-40gb", [](const std::string&) {});
  const std::vector<Section>& sections = report.sections;
  const std::string page = config::read_text_file(config::config_root() + "/../docs/results/lean.md");
  EXPECT_EQ(to_markdown(report), page.substr(page.find("# ")))  // behind what made it
      << "write it anew: attnvp reproduce lean --markdown docs/results/lean.md";
  ASSERT_EQ(sections.size(), 5U);
  EXPECT_EQ(sections[2].rows.size(), 4U);
  for (const std::vector<std::string>& row : sections[2].rows) {
    for (std::size_t i = 3; i < row.size(); ++i) {
      const std::size_t slash = row[i].find(" / ");
      ASSERT_NE(slash, std::string::npos);
      EXPECT_EQ(row[i].substr(0, slash), row[i].substr(slash + 3));
    }
  }
}

}  // namespace
}  // namespace attnvp::papers
