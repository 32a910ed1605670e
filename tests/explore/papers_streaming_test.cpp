// `attnvp reproduce streaming`.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "explore/papers/papers.h"

namespace attnvp::papers {
namespace {

const StreamingStudy& study() {
  static const StreamingStudy all = run_streaming_study(512, [](const std::string& /*what*/) {});
  return all;
}

TEST(Streaming, MemoryIsLinearInNForNaiveAndConstantForMemoryFree) {
  const std::uint64_t constant = study().of(kMemoryFree).front()->result.intermediate_bytes();
  for (const StreamingPoint* p : study().of(kMemoryFree)) {
    EXPECT_EQ(p->result.intermediate_bytes(), constant) << p->n;
  }
  const auto naive = study().of(kNaive);
  ASSERT_EQ(naive.size(), 6U);
  for (std::size_t i = 1; i < naive.size(); ++i) {
    // One FP32 score for each further token.
    EXPECT_EQ(naive[i]->result.intermediate_bytes() - naive[i - 1]->result.intermediate_bytes(),
              4U * (naive[i]->n - naive[i - 1]->n));
  }
}

TEST(Streaming, ThePapersCyclesAreMet) {
  for (const std::string& graph : {kNaive, kMemoryFree}) {
    const StreamingPoint& p = study().at(graph, 512);
    EXPECT_GT(p.paper_cycles, 0U);
    EXPECT_EQ(p.result.cycles, p.paper_cycles) << graph;
  }
  std::size_t compared = 0;
  for (const DepthPoint& p : study().sweep) {
    EXPECT_EQ(p.deadlocked, p.depth < study().sweep_n) << p.depth;
    if (p.paper_cycles == 0) continue;
    ++compared;
    EXPECT_EQ(p.cycles, p.paper_cycles) << p.depth;
  }
  EXPECT_EQ(compared, 3U);
}

TEST(Streaming, ThresholdsFollowN) {
  EXPECT_EQ(study().thresholds.size(), 10U);
  for (const Threshold& t : study().thresholds) {
    EXPECT_EQ(t.runs_from, t.n) << t.n;
    EXPECT_EQ(t.full_rate_from, t.n + (t.unit_times ? 2 : 16)) << t.n;
    const std::uint64_t n = t.n;
    EXPECT_EQ(t.full_rate_cycles, t.unit_times ? n * n + n + 3 : 2 * n * n + 2 * n + 52) << t.n;
  }
}

TEST(Streaming, ThePageShowsItsPlots) {
  const StudyReport report = streaming_report(study(), "page");
  const std::string page = to_markdown(report);
  ASSERT_EQ(report.plots.size(), 3U);
  for (const StudyReport::Plot& plot : report.plots) {
    EXPECT_NE(page.find("(page-" + plot.suffix + ".svg)"), std::string::npos) << plot.suffix;
    EXPECT_EQ(plot.svg.substr(plot.svg.size() - 7), "</svg>\n");
    EXPECT_EQ(plot.svg.find("nan"), std::string::npos);
  }
  EXPECT_NE(page.find("| 512 | 525,364 | the same |"), std::string::npos);
  EXPECT_NE(page.find("at every N: O(1)."), std::string::npos);
}

TEST(Streaming, CellsHaveThePapers) {
  const StudyReport report = streaming_report(study(), "page");
  const auto json = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(json["entries"][0]["network"], "N=16");
  EXPECT_EQ(json["entries"][0]["ours"], 596);
  EXPECT_EQ(json["golden"]["passed"], report.checked);
  EXPECT_NE(to_csv(report).find("\ncycles,N=512,naive,525364,525364,1.000000,"), std::string::npos);
}

}  // namespace
}  // namespace attnvp::papers
