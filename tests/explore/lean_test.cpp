// The page of `attnvp reproduce lean` is what the command writes today; most of a minute, therefore labelled long.
#include <gtest/gtest.h>

#include "explore/reproduce/lean_memory.h"
#include "explore/reproduce/lean_study.h"
#include "platform/config/catalog.h"
#include "platform/config/document.h"
#include "platform/config/hardware.h"

namespace attnvp::reproduce {
namespace {

TEST(ReproduceLean, PageIsFreshAndPartitionsAreThePapers) {
  const LeanStudy study = run_lean_study(config::load_hardware("a100-40gb"), [](const std::string&) {});
  std::vector<Section> sections = lean_sections(study);
  const LeanMemory memory = run_lean_memory([](const std::string&) {});
  sections.push_back(lean_memory_section(memory));
  sections.push_back(lean_reasons_section(memory));
  const std::string page = config::read_text_file(config::config_root() + "/../docs/results/lean.md");
  EXPECT_EQ(lean_markdown(sections), page.substr(page.find("# ")))  // behind what made it
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
}  // namespace attnvp::reproduce
