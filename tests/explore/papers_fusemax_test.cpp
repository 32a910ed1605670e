// `attnvp reproduce fusemax`: what is extrapolated equals what is simulated whole, and the page is today's.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

#include "explore/papers/fusemax.h"
#include "platform/base/origin.h"
#include "platform/machine/catalog.h"
#include "platform/machine/document.h"
#include "platform/machine/energy.h"
#include "platform/machine/error.h"
#include "platform/machine/hardware.h"
#include "tests/support/tuned.h"

namespace attnvp::papers {
namespace {

struct Case {
  std::string dataflow;
  std::uint32_t heads, tokens, emb;
  SampleDimension sample;
  double tolerance;  // of cycles, energies and counts, relative
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.dataflow << " " << c.heads << " x " << c.tokens; }

class Sampled : public testing::TestWithParam<Case> {};

TEST_P(Sampled, EqualsTheWhole) {
  const Case& c = GetParam();
  const MachineConfig machine =
      config::load_hardware(c.dataflow.rfind("fusemax", 0) == 0 ? "fusemax" : "fusemax-baseline");
  runs::Runner runner(machine, config::load_energy(machine.energy), false);
  const job::Schedule schedule = job::parse_dataflow(c.dataflow);
  const workload::Attention network =
      workload::load(fmt::format("H={},N={},E={}", c.heads, c.tokens, c.emb)).attention();
  const FusemaxMeasure sample = sampled(runner, schedule, c.tokens, c.emb, c.sample).at(c.heads);
  job::Schedule same = schedule;
  same.tiling = sample.tiling;  // as chosen for the sample
  const FusemaxMeasure whole = measure(runner.run(network, same, nullptr, {}), machine);
  for (std::size_t i = 0; i < kQuantities; ++i) {
    EXPECT_NEAR(sample.value.at(i) / whole.value.at(i), 1, c.tolerance) << "quantity " << i;
  }
  EXPECT_EQ(sample.l1_peak_bytes, whole.l1_peak_bytes);
  EXPECT_EQ(job::tiling_text(sample.tiling), job::tiling_text(whole.tiling));
}

constexpr double kExact = 1e-12;
std::string case_name(const testing::TestParamInfo<Case>& of) {
  std::string name = fmt::format("{}_{}_{}_{}_{}", of.param.dataflow, of.param.heads, of.param.tokens, of.param.emb,
                                 static_cast<int>(of.param.sample));
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

#ifndef ATTNVP_LONG
// Loads and stores of layerwise meet anew in every head: a thousandth of its cycles depends on which.
INSTANTIATE_TEST_SUITE_P(
    Layers, Sampled,
    testing::Values(Case{"fusemax", 768, 1024, 64, SampleDimension::kHeads, kExact},
                    Case{"fusemax:binding=serial", 768, 1024, 64, SampleDimension::kHeads, kExact},
                    Case{"cascade", 768, 1024, 64, SampleDimension::kHeads, kExact},
                    Case{"flat", 768, 1024, 64, SampleDimension::kHeads, kExact},
                    Case{"layerwise:spills=fusemax", 768, 1024, 64, SampleDimension::kHeads, 2e-3},
                    Case{"fusemax", 48, 4096, 128, SampleDimension::kHeads, kExact},
                    Case{"fusemax:binding=serial", 48, 4096, 128, SampleDimension::kHeads, kExact},
                    Case{"cascade", 48, 4096, 128, SampleDimension::kHeads, kExact},
                    Case{"flat", 48, 4096, 128, SampleDimension::kHeads, kExact},
                    Case{"layerwise:spills=fusemax", 48, 4096, 128, SampleDimension::kHeads, 1e-5},
                    Case{"fusemax", 3, 16384, 64, SampleDimension::kHeadsAndKeys, kExact},
                    Case{"fusemax", 2, 20011, 64, SampleDimension::kHeadsAndKeys, kExact},  // a prime: ragged
                    Case{"fusemax", 2, 65536, 64, SampleDimension::kHeadsAndKeys, kExact},
                    Case{"fusemax:binding=serial", 3, 16384, 64, SampleDimension::kHeadsAndKeys, kExact},
                    Case{"cascade", 2, 65536, 128, SampleDimension::kHeadsAndKeys, kExact},
                    // Row blocks of a head are not all alike, the first and the last least of all.
                    Case{"flat", 1, 65536, 64, SampleDimension::kQueries, 0.01}),
    case_name);

const FusemaxStudy& short_study() {
  static const FusemaxStudy study = run_fusemax_study(4096, [](const std::string& /*what*/) {});
  return study;
}

TEST(ReproduceFusemax, IsNearThePaper) {
  const FusemaxStudy& s = short_study();
  ASSERT_EQ(s.points.size(), 8U);
  EXPECT_EQ(s.dataflows,
            (std::vector<std::string>{"fusemax", "fusemax:binding=serial", "cascade", "flat", "layerwise"}));
  for (const Cell& e : fusemax_cells(s)) {
    if (e.quantity == "cycles" && e.paper > 0) {
      EXPECT_NEAR(e.ratio(), 1, e.dataflow == "layerwise" ? 0.03 : 0.021) << e.network << " " << e.dataflow;
    }
    if (e.quantity == "mac_utilization") {
      EXPECT_NEAR(e.ours, e.paper, 0.01) << e.network;
    }
    if (e.quantity == "energy_pj") {
      EXPECT_NEAR(e.ratio(), 1, 0.1) << e.network << " " << e.dataflow;
    }
    if (e.quantity == "dram_bytes") {
      // Tiles are chosen by cycles: K and V may come twice where DRAM has time.
      EXPECT_GE(e.ours, e.paper) << e.network << " " << e.dataflow;
      EXPECT_LE(e.ratio(), 1.5) << e.network << " " << e.dataflow;
    }
  }
}

// Every difference above 10% has its reason, and nothing else has one.
TEST(ReproduceFusemax, DifferencesHaveReasons) {
  for (const Cell& e : fusemax_cells(short_study())) {
    EXPECT_EQ(!e.why.empty(), e.paper > 0 && noteworthy(e.ratio()))
        << e.quantity << " " << e.network << " " << e.dataflow;
  }
}

// docs/results/fusemax.md has today's rows; its longer sequences are the long test's.
TEST(ReproduceFusemax, PageIsFreshUpTo4K) {
  const std::string page = config::read_text_file(config::config_root() + "/../docs/results/fusemax.md");
  std::istringstream fresh(to_markdown(fusemax_report(short_study())));
  int rows = 0;
  for (std::string line; std::getline(fresh, line);) {
    if (line.find(" 1K |") == std::string::npos && line.find(" 4K |") == std::string::npos) continue;
    ++rows;
    EXPECT_NE(page.find(line + "\n"), std::string::npos)
        << line << "\nwrite it anew: attnvp reproduce fusemax --markdown docs/results/fusemax.md";
  }
  EXPECT_GE(rows, 3 * 8);
}

#else
INSTANTIATE_TEST_SUITE_P(
    Layers, Sampled,
    testing::Values(Case{"layerwise:spills=fusemax", 4, 65536, 64, SampleDimension::kHeads, 1e-5},
                    Case{"layerwise:spills=fusemax", 1, 262144, 64, SampleDimension::kQueries, 0.001},
                    Case{"flat", 1, 65536, 128, SampleDimension::kQueries, 0.01},
                    Case{"flat", 1, 262144, 64, SampleDimension::kQueries, 0.001},
                    Case{"flat", 1, 262144, 128, SampleDimension::kQueries, 0.001},
                    Case{"fusemax", 1, 262144, 64, SampleDimension::kHeadsAndKeys, kExact},
                    Case{"fusemax:binding=serial", 1, 262144, 64, SampleDimension::kHeadsAndKeys, kExact},
                    Case{"cascade", 1, 262144, 64, SampleDimension::kHeadsAndKeys, kExact},
                    Case{"fusemax", 1, 1048576, 128, SampleDimension::kHeadsAndKeys, kExact}),
    case_name);

// docs/results/fusemax.md is what the command writes today.
TEST(ReproduceFusemax, PageIsFresh) {
  text::set_command("attnvp reproduce fusemax");
  const StudyReport report = fusemax(1U << 20, [](const std::string& /*what*/) {});
  const std::string kept = config::read_text_file(config::config_root() + "/../docs/results/fusemax.md");
  EXPECT_EQ(to_markdown(report), kept.substr(kept.find("# ")))  // behind what made it
      << "write it anew: attnvp reproduce fusemax --markdown docs/results/fusemax.md";
  const auto cycles = cells_of(report.cells, "cycles");
  EXPECT_EQ(cycles.size(), 4U * 6 * 5);
  for (const auto& [place, c] : cycles) {
    if (c.paper == 0) continue;
    EXPECT_GE(c.ratio(), 1.0) << place.first << " " << place.second;
    // K and V of layerwise come anew for every row block where a row of scores fills the buffer; the paper counts them
    // once.
    EXPECT_LE(c.ratio(), place.second == "layerwise" ? 1.035 : place.second == "flat" ? 1.03 : 1.02) << place.first;
  }
}
#endif

}  // namespace
}  // namespace attnvp::papers
