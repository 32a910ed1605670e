// The tables of `attnvp reproduce mas` on the paper's machine, in timing mode.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "explore/reproduce/bounds.h"
#include "explore/reproduce/commands.h"
#include "explore/reproduce/davinci_study.h"
#include "explore/reproduce/limits.h"
#include "explore/reproduce/output.h"
#include "explore/reproduce/tables.h"
#include "platform/config/catalog.h"
#include "platform/config/document.h"
#include "platform/config/error.h"
#include "platform/config/hardware.h"
#include "platform/text/version.h"

namespace attnvp::reproduce {
namespace {

void silent(const std::string& /*network*/, const std::string& /*dataflow*/) {}

const Study& paper_study() {
  static const Study study =
      run_study(config::load_hardware("edge"), config::hardware_provenance("edge"), false, silent);
  return study;
}

std::string temporary(const char* name) {
  return (std::filesystem::temp_directory_path() / (std::to_string(getpid()) + name)).string();
}

TEST(Reproduce, TablesAreThePapers) {
  const Paper paper = load_paper();
  EXPECT_EQ(paper.networks.size(), 12U);
  EXPECT_EQ(paper.dataflows, (std::vector<std::string>{"layerwise", "softpipe", "flat", "tileflow", "mas"}));
  EXPECT_DOUBLE_EQ(paper.cycles.at({"bert-base", "mas"}), 0.786e6);
  EXPECT_DOUBLE_EQ(paper.energy_pj.at({"xlm", "layerwise"}), 35.786e9);
  EXPECT_DOUBLE_EQ(paper.claim("speedup", "flat"), 1.70);
  EXPECT_EQ(paper.claim("reads", "xlm"), 0);
}

TEST(Reproduce, MasIsNearThePaper) {
  const Study& s = paper_study();
  for (const std::string& network : s.paper.networks) {
    EXPECT_NEAR(s.cycles(network, kMas) / s.paper_cycles(network, kMas), 1, 0.04) << network;
    EXPECT_NEAR(s.energy_pj(network, kMas) / s.paper_energy_pj(network, kMas), 1, 0.15) << network;
    EXPECT_EQ(s.at(network, kMas).sum("dram", "write_words"), s.at(network, kFlat).sum("dram", "write_words"));
  }
  const double mean = geometric_mean(s.paper.networks, [&s](const std::string& network) {
    return s.energy_pj(network, kMas) / s.paper_energy_pj(network, kMas);
  });
  EXPECT_NEAR(mean, 1, 0.05);
}

TEST(Reproduce, NoRunIsBelowItsBound) {
  const Study& s = paper_study();
  EXPECT_TRUE(is_papers_machine(s));
  for (const auto& [place, result] : s.results) {
    EXPECT_GE(static_cast<double>(result.cycles), bound(result, s.machine).cycles)
        << place.first << " " << place.second;
  }
}

// TileFlow is held to the paper's eight row blocks, a head at a time, and nothing else to anything.
TEST(Reproduce, OnlyThePapersSettingIsPinned) {
  const Study& s = paper_study();
  for (const auto& [place, result] : s.results) {
    EXPECT_EQ(result.schedule.text, place.second == "tileflow" ? "tileflow:row_blocks=8" : place.second);
    if (place.second != "tileflow") continue;
    const double rows = result.network.seq_q / 8.0;
    EXPECT_EQ(result.schedule.tiling["nq"], 16 * static_cast<unsigned>(std::ceil(rows / 16))) << place.first;
    EXPECT_EQ(result.schedule.tiling["hh"], 1U) << place.first;
  }
}

// Cells that the machine was fitted to say so wherever they appear.
TEST(Reproduce, CalibratedCellsAreMarked) {
  const Study& s = paper_study();
  std::size_t cells = 0;
  for (const Entry& e : entries(s)) {
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
  const std::string text = to_text(s, sections(s, {}));
  std::size_t marks = 0;
  for (std::size_t at = text.find(" c"); at != std::string::npos; at = text.find(" c", at + 1)) {
    marks += at + 2 == text.size() || text[at + 2] == ' ' || text[at + 2] == '\n' ? 1 : 0;
  }
  EXPECT_EQ(marks, cells);
  // On another machine nothing is fitted.
  Study other = s;
  other.provenance =
      config::hardware_provenance("edge", {"vec.softmax_lane_cycles=32", "energy=pat", "mac.accumulators=l0"});
  for (const Entry& e : entries(other)) EXPECT_EQ(e.calibrated, "") << e.quantity << " " << e.network;
}

// A short search is never slower than the choice, keeps to its budget and finds the same again.
TEST(Reproduce, TheBestIsNoSlowerThanTheChoice) {
  Study s = paper_study();
  s.paper.networks = {"t5-mini"};
  s.paper.dataflows = {"tileflow", "mas"};
  find_best(s, silent);
  for (const std::string& dataflow : s.paper.dataflows) {
    const Best& best = s.best.at({"t5-mini", dataflow});
    EXPECT_LE(best.result.cycles, s.at("t5-mini", dataflow).cycles) << dataflow;
    EXPECT_LE(best.simulations, kBestBudget);
    EXPECT_EQ(best.result.schedule.text, dataflow);
  }
  const std::uint64_t once = s.best.at({"t5-mini", "tileflow"}).result.cycles;
  find_best(s, silent);
  EXPECT_EQ(s.best.at({"t5-mini", "tileflow"}).result.cycles, once);
}

// A reason is a measurement, a conjecture with what would decide it, or "unexplained" with what was measured.
TEST(Reproduce, ReasonsClaimNoMoreThanWasMeasured) {
  for (const Entry& e : entries(paper_study())) {
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
  for (const Entry& e : entries(paper_study())) {
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
Study study_of_another_machine() {
  const MachineConfig machine = config::load_hardware("edge", {"dram.bandwidth=10 GB/s"});
#ifdef ATTNVP_LONG
  return run_study(machine, {}, false, silent);
#else
  Study s = paper_study();
  s.machine = machine;
  s.provenance = {};
  return s;
#endif
}

TEST(Reproduce, AnotherMachineGetsNoReasons) {
  const Study s = study_of_another_machine();
  EXPECT_FALSE(is_papers_machine(s));
  for (const Entry& e : entries(s)) EXPECT_TRUE(e.why.empty()) << e.network << " " << e.dataflow << " " << e.why;
}

// A small L1, so that sequences are short: twice the L1, twice the length; the next step does not run.
TEST(Reproduce, LimitsGrowWithL1) {
  const auto limits_of = [](const char* l1) {
    const MachineConfig machine = config::load_hardware("edge", {std::string("l1.size=") + l1});
    return find_limits(machine, {kFlat, kMas}, [](const std::string& /*dataflow*/, std::uint32_t /*cores*/) {});
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
  Paper paper = load_paper();
  paper.networks = {"vit-b-16", "vit-b-14"};
  const DavinciStudy study = run_davinci_study(paper, [](const std::string& /*what*/) {});
  EXPECT_EQ(study.dataflows, (std::vector<std::string>{"layerwise", "softpipe", "flat"}));
  ASSERT_GT(study.machines.size(), 1U);
  EXPECT_EQ(study.machines[0].changed, "");
  for (const DavinciStudy::Machine& m : study.machines) {
    for (const auto& [place, cycles] : m.cycles) EXPECT_GE(cycles, m.cycles.at({place.first, kMas})) << m.changed;
  }
  const Section figure = davinci_sections(study)[0];
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
  const std::string page = temporary("page.md"), json = temporary("page.json"), csv = temporary("page.csv");
  cli::ReproduceArguments a;
  a.markdown = page;
  a.json = json;
  a.csv = csv;
  text::set_command("attnvp reproduce mas");
  testing::internal::CaptureStdout();
  const int status = cli::reproduce_mas(a);
  testing::internal::GetCapturedStdout();
  EXPECT_EQ(status, 0);
  const std::string kept = config::config_root() + "/../docs/results/mas.md";
  EXPECT_EQ(config::read_text_file(page), config::read_text_file(kept))
      << "write it anew: attnvp reproduce mas --markdown docs/results/mas.md";
  const nlohmann::json report = nlohmann::json::parse(config::read_text_file(json));
  EXPECT_EQ(report["limits"].size(), 10U);
  EXPECT_EQ(report["davinci"].size(), 9U);
  EXPECT_EQ(report["runs"].size(), 72U);
  EXPECT_EQ(report["best"].size(), 60U);
  const std::string lines = config::read_text_file(csv);
  EXPECT_EQ(static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n')),
            1 + report["entries"].size() + report["limits"].size());
  for (const std::string& path : {page, json, csv}) std::filesystem::remove(path);
}
#else
// docs/results/mas.md has today's rows; the searches are the long test's.
TEST(Reproduce, TablesOfThePageAreFresh) {
  const Study& study = paper_study();
  const std::string page = config::read_text_file(config::config_root() + "/../docs/results/mas.md");
  std::istringstream fresh(to_markdown(study, sections(study, {})));
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

TEST(Reproduce, RefusesOutputsInOnePlace) {
  cli::ReproduceArguments a;
  a.csv = a.markdown = temporary("same");
  EXPECT_THROW(cli::reproduce_mas(a), config::ConfigError);
  a.markdown = "-";
  EXPECT_THROW(cli::reproduce_mas(a), config::ConfigError);
}

}  // namespace
}  // namespace attnvp::reproduce
