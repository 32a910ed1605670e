// The tables of `attnvp reproduce mas` on the paper's machine, in timing mode.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "explore/papers/mas.h"
#include "platform/base/origin.h"
#include "platform/machine/catalog.h"
#include "platform/machine/document.h"
#include "platform/machine/error.h"
#include "platform/machine/hardware.h"

namespace attnvp::papers {
namespace {

void silent(const std::string& /*what*/) {}

const MasStudy& paper_study() {
  static const MasStudy study =
      run_mas_study(config::load_hardware("edge"), config::hardware_provenance("edge"), false, silent);
  return study;
}

TEST(Reproduce, TablesAreThePapers) {
  const MasPaper paper = load_mas_paper();
  EXPECT_EQ(paper.networks.size(), 12U);
  EXPECT_EQ(paper.dataflows, (std::vector<std::string>{"layerwise", "softpipe", "flat", "tileflow", "mas"}));
  EXPECT_DOUBLE_EQ(paper.cycles.at({"bert-base", "mas"}), 0.786e6);
  EXPECT_DOUBLE_EQ(paper.energy_pj.at({"xlm", "layerwise"}), 35.786e9);
  EXPECT_DOUBLE_EQ(paper.claim("speedup", "flat"), 1.70);
  EXPECT_EQ(paper.claim("reads", "xlm"), 0);
}

TEST(Reproduce, MasIsNearThePaper) {
  const MasStudy& s = paper_study();
  for (const std::string& network : s.paper.networks) {
    EXPECT_NEAR(s.cycles({network, kMas}) / s.paper_cycles({network, kMas}), 1, 0.04) << network;
    EXPECT_NEAR(s.energy_pj({network, kMas}) / s.paper_energy_pj({network, kMas}), 1, 0.15) << network;
    EXPECT_EQ(s.at({network, kMas}).sum("dram", "write_words"), s.at({network, kFlat}).sum("dram", "write_words"));
  }
  const double mean = geometric_mean(s.paper.networks, [&s](const std::string& network) {
    return s.energy_pj({network, kMas}) / s.paper_energy_pj({network, kMas});
  });
  EXPECT_NEAR(mean, 1, 0.05);
}

TEST(Reproduce, NoRunIsBelowItsBound) {
  const MasStudy& s = paper_study();
  EXPECT_TRUE(is_papers_machine(s));
  for (const auto& [place, result] : s.results) {
    EXPECT_GE(static_cast<double>(result.cycles), bound(result, s.machine).cycles)
        << place.first << " " << place.second;
  }
}

// TileFlow is held to the paper's eight row blocks, a head at a time, and nothing else to anything.
TEST(Reproduce, OnlyThePapersSettingIsPinned) {
  const MasStudy& s = paper_study();
  for (const auto& [place, result] : s.results) {
    EXPECT_EQ(result.schedule.text, place.second == "tileflow" ? "tileflow:row_blocks=8" : place.second);
    if (place.second != "tileflow") continue;
    const double rows = result.network.extents().seq_q / 8.0;
    EXPECT_EQ(result.schedule.tiling["nq"], 16 * static_cast<unsigned>(std::ceil(rows / 16))) << place.first;
    EXPECT_EQ(result.schedule.tiling["hh"], 1U) << place.first;
  }
}

// Cells that the machine was fitted to say so wherever they appear.
TEST(Reproduce, CalibratedCellsAreMarked) {
  const MasStudy& s = paper_study();
  std::size_t cells = 0;
  for (const Cell& e : mas_cells(s)) {
    const bool cycles = e.quantity == "cycles" || e.quantity == "speedup";
    const bool energy = e.quantity == "energy_pj" || e.quantity == "saving_percent";
    const bool row = e.network.rfind("geomean", 0) != 0;
    const bool flat = e.dataflow.rfind("flat", 0) == 0 && (e.network == "llama3-8b" || e.network == "xlm");
    EXPECT_EQ(e.calibrated, cycles && flat  ? "vec.softmax_lane_cycles"
                            : energy && row ? "energy"
                                            : "")
        << e.quantity << " " << e.network << " " << e.dataflow;
    cells += e.calibrated.empty() ? 0 : 1;
  }
  const std::string text = to_text(mas_report(s));
  std::size_t marks = 0;
  for (std::size_t at = text.find(" c"); at != std::string::npos; at = text.find(" c", at + 1)) {
    marks += at + 2 == text.size() || text[at + 2] == ' ' || text[at + 2] == '\n' ? 1 : 0;
  }
  EXPECT_EQ(marks, cells);
  // On another machine nothing is fitted.
  MasStudy other = s;
  other.provenance =
      config::hardware_provenance("edge", {"vec.softmax_lane_cycles=32", "energy=pat", "mac.accumulators=l0"});
  for (const Cell& e : mas_cells(other)) EXPECT_EQ(e.calibrated, "") << e.quantity << " " << e.network;
}

// A short search is never slower than the choice, keeps to its budget and finds the same again.
TEST(Reproduce, TheBestIsNoSlowerThanTheChoice) {
  MasStudy s = paper_study();
  s.paper.networks = {"t5-mini"};
  s.paper.dataflows = {"tileflow", "mas"};
  find_best(s, silent);
  for (const std::string& dataflow : s.paper.dataflows) {
    const Best& best = s.best.at({"t5-mini", dataflow});
    EXPECT_LE(best.result.cycles, s.at({"t5-mini", dataflow}).cycles) << dataflow;
    EXPECT_LE(best.simulations, kBestBudget);
    EXPECT_EQ(best.result.schedule.text, dataflow);
  }
  const std::uint64_t once = s.best.at({"t5-mini", "tileflow"}).result.cycles;
  find_best(s, silent);
  EXPECT_EQ(s.best.at({"t5-mini", "tileflow"}).result.cycles, once);
}

// A reason is a measurement, a conjecture with what would decide it, or "unexplained" with what was measured.
TEST(Reproduce, ReasonsClaimNoMoreThanWasMeasured) {
  for (const Cell& e : mas_cells(paper_study())) {
    EXPECT_EQ(e.why.find("artefact"), std::string::npos) << e.why;
    EXPECT_EQ(e.why.find("Conjecture") == std::string::npos, e.why.find("would decide it") == std::string::npos)
        << e.why;
    if (!e.why.empty()) {
      EXPECT_NE(e.why.find_first_of("0123456789"), std::string::npos) << e.why;
    }
  }
}

// Every difference above 10% has its line; nothing else has one.
TEST(Reproduce, DifferencesHaveReasons) {
  for (const Cell& e : mas_cells(paper_study())) {
    const bool table = e.quantity == "cycles" || e.quantity == "energy_pj";
    const bool row = e.network.rfind("geomean", 0) != 0 && e.dataflow != kFlatLockStep;
    EXPECT_EQ(!e.why.empty(), table && row && noteworthy(e.ratio()))
        << e.quantity << " " << e.network << " " << e.dataflow;
    EXPECT_EQ(e.why.find('\n'), std::string::npos);
  }
}

TEST(Reproduce, EnergyFitFindsTheConstants) {
  const EnergyFits fits = fit_energies(paper_study());
  EXPECT_NEAR(fits.paper.mac, 26.25, 0.1);
  EXPECT_NEAR(fits.paper.score, 520, 5);
  EXPECT_NEAR(fits.paper.byte, 108.7, 1);
}

// Without ATTNVP_LONG the results are those of the paper's machine, of which some have reasons there.
MasStudy study_of_another_machine() {
  const MachineConfig machine = config::load_hardware("edge", {"dram.bandwidth=10 GB/s"});
#ifdef ATTNVP_LONG
  return run_mas_study(machine, {}, false, silent);
#else
  MasStudy s = paper_study();
  s.machine = machine;
  s.provenance = {};
  return s;
#endif
}

TEST(Reproduce, AnotherMachineGetsNoReasons) {
  const MasStudy s = study_of_another_machine();
  EXPECT_FALSE(is_papers_machine(s));
  for (const Cell& e : mas_cells(s)) EXPECT_TRUE(e.why.empty()) << e.network << " " << e.dataflow << " " << e.why;
}

// A small L1, so that sequences are short: twice the L1, twice the length; the next step does not run.
TEST(Reproduce, LimitsGrowWithL1) {
  const auto limits_of = [](const char* l1) {
    const MachineConfig machine = config::load_hardware("edge", {std::string("l1.size=") + l1});
    return find_limits(machine, {kFlat, kMas}, silent);
  };
  const std::vector<Limit> small = limits_of("256 KiB"), large = limits_of("512 KiB");
  ASSERT_EQ(small.size(), 4U);
  for (std::size_t i = 0; i < small.size(); ++i) {
    const double growth = static_cast<double>(large[i].tokens) / static_cast<double>(small[i].tokens);
    EXPECT_GT(small[i].tokens, 0U);
    EXPECT_GT(growth, 1.8) << small[i].dataflow;
    EXPECT_NE(small[i].refused.find("L1 is too small"), std::string::npos) << small[i].refused;
  }
  EXPECT_EQ(small[0].cores, 2U);
  EXPECT_EQ(small[1].cores, 1U);
  // One of two cores may have nothing to do, but then the other one has twice the rows.
  EXPECT_GT(static_cast<double>(small[0].tokens), 0.9 * static_cast<double>(small[1].tokens));
  EXPECT_GT(small[1].tokens, small[3].tokens);  // flat holds one row where mas holds two
}

// Nothing is fitted: what the paper states stands beside ours, and a difference says no more than was measured.
TEST(Reproduce, TheDavinciCoreIsComparedNotFitted) {
  for (const auto& [path, p] : config::hardware_provenance("davinci")) {
    EXPECT_EQ(p.text().find("calibrated"), std::string::npos) << path;
  }
  MasPaper paper = load_mas_paper();
  paper.networks = {"vit-b-16", "vit-b-14"};
  const Machines study = run_davinci(paper, silent);
  EXPECT_EQ(study.dataflows, (std::vector<std::string>{"layerwise", "softpipe", "flat"}));
  ASSERT_GT(study.machines.size(), 1U);
  EXPECT_EQ(study.machines[0].what, "");
  for (const Machines::StudyMachine& m : study.machines) {
    for (const auto& [place, cycles] : m.cycles) EXPECT_GE(cycles, m.cycles.at({place.first, kMas})) << m.what;
  }
  const Section figure = davinci_sections(paper, study)[0];
  ASSERT_EQ(figure.rows.size(), 5U);  // two networks, least, most, mean
  EXPECT_EQ(figure.rows[4][1].rfind("2.33x  ", 0), 0U) << figure.rows[4][1];
  for (const std::string& note : figure.notes) {
    EXPECT_EQ(note.find("Conjecture") == std::string::npos, note.find("would decide it") == std::string::npos) << note;
    EXPECT_NE(note.find_first_of("0123456789"), std::string::npos) << note;
  }
}

#ifdef ATTNVP_LONG
// docs/results/mas.md is what the command writes today.
TEST(Reproduce, PageIsFresh) {
  text::set_command("attnvp reproduce mas");
  const StudyReport report = mas("edge", false, true, silent);
  const std::string kept = config::read_text_file(config::config_root() + "/../docs/results/mas.md");
  EXPECT_EQ(to_markdown(report), kept.substr(kept.find("# ")))  // behind what made it
      << "write it anew: attnvp reproduce mas --markdown docs/results/mas.md";
  EXPECT_EQ(cells_of(report.cells, "tokens").size(), 10U);
  EXPECT_EQ(cells_of(report.cells, "best_cycles").size(), 60U + 5);  // and the means
  const std::string csv = to_csv(report);
  EXPECT_EQ(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')), 1 + report.cells.size());
  EXPECT_EQ(nlohmann::json::parse(to_json(report))["entries"].size(), report.cells.size());
}
#else
// docs/results/mas.md has today's rows; the searches are the long test's.
TEST(Reproduce, TablesOfThePageAreFresh) {
  const MasStudy& study = paper_study();
  const std::string page = config::read_text_file(config::config_root() + "/../docs/results/mas.md");
  std::istringstream fresh(to_markdown(mas_report(study)));
  int rows = 0;
  for (std::string line; std::getline(fresh, line);) {
    if (line.compare(0, 2, "| ") != 0) continue;
    ++rows;
    EXPECT_NE(page.find(line + "\n"), std::string::npos)
        << line << "\nwrite it anew: attnvp reproduce mas --markdown docs/results/mas.md";
  }
  EXPECT_GE(rows, 100);
}
#endif

}  // namespace
}  // namespace attnvp::papers
