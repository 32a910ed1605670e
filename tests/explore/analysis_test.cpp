// Fronts, sensitivities and comparisons of rows whose answers are known.
#include "explore/analysis/analysis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "platform/base/random.h"
#include "platform/machine/error.h"

namespace attnvp::explore {
namespace {

class DatabaseFolder {
 public:
  DatabaseFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "attnvp-analysis-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~DatabaseFolder() { std::filesystem::remove_all(folder_); }
  DatabaseFolder(const DatabaseFolder&) = delete;
  DatabaseFolder& operator=(const DatabaseFolder&) = delete;
  std::string path() const { return folder_ + "/a.db"; }

 private:
  std::string folder_;
};

// A database of made-up rows: cores x dataflow, cycles = 1000 * weight(dataflow) / cores, energy = 5 * cores pJ.
class MadeUp : public DatabaseFolder {
 public:
  explicit MadeUp(bool two_layers = false) {
    Database db(path(), Database::Mode::kWrite);
    db.add_axes({"cores", "dataflow"});
    db.begin();
    for (const std::int64_t cores : {1, 2, 4}) {
      for (const auto& [dataflow, weight] : {std::pair{"flat", 4}, {"mas", 2}}) {
        SqlRow row(columns().size());
        const auto set = [&](const char* column, SqlValue cell) { row[column_index(column)] = std::move(cell); };
        // On 4 cores mas waits for DRAM and needs as many cycles as 1.25 times flat.
        const bool slow = cores == 4 && std::string(dataflow) == "mas";
        set("key", std::string(dataflow) + std::to_string(cores));
        set("hardware", "edge");
        set("cores", cores);
        set("network", two_layers && cores == 4 ? "other" : "layer");
        set("dataflow", dataflow);
        set("status", kDone);
        set("command", "attnvp run </script>");
        set("cycles", slow ? std::int64_t{1250} : 1000 * weight / cores);
        set("energy_pj.total", 5.0 * static_cast<double>(cores));
        set("utilization.mac", cores == 4 ? 0.5 : 0.7);
        set("utilization.vec", cores == 4 ? 0.1 : 0.28);
        set("utilization.dram", slow ? 1.0 : 0.2);
        set("dram.read_bytes", std::int64_t{slow ? 300 : 100});
        set("dram.write_bytes", std::int64_t{0});
        set("tiling.nq", std::int64_t{slow ? 8 : 16});
        db.store(row);
      }
    }
    SqlRow failed(columns().size());
    failed[0] = "zzz";
    failed[column_index("status")] = kFailed;
    db.store(failed);
    db.commit();
  }
};

TEST(Pareto, AgreesWithComparingAllPairs) {
  RandomSource random(5);
  for (const std::size_t goals : {2U, 3U}) {
    for (int round = 0; round < 50; ++round) {
      std::vector<std::vector<double>> costs(60);
      for (auto& c : costs) {
        for (std::size_t g = 0; g < goals; ++g) c.push_back(static_cast<double>(random.below(12)));
      }
      costs[3][0] = std::nan("");
      std::vector<std::size_t> expected;
      for (std::size_t i = 0; i < costs.size(); ++i) {
        bool on = !std::isnan(costs[i][0]);
        for (const auto& other : costs) {
          bool no_worse = true, better = false;
          for (std::size_t g = 0; g < goals; ++g) {
            no_worse = no_worse && other[g] <= costs[i][g];
            better = better || other[g] < costs[i][g];
          }
          on = on && !(no_worse && better);
        }
        if (on) expected.push_back(i);
      }
      std::vector<std::size_t> found = pareto_front(costs);
      for (std::size_t f = 1; f < found.size(); ++f) EXPECT_LE(costs[found[f - 1]], costs[found[f]]);
      std::sort(found.begin(), found.end());
      EXPECT_EQ(found, expected);
    }
  }
}

TEST(Pareto, FrontOfKnownRows) {
  const MadeUp made;
  const Selection all(made.path(), "");
  EXPECT_EQ(all.rows().size(), 6U);
  EXPECT_EQ(all.failed(), 1U);
  // mas on 1 core: 2000 cycles, 5 pJ; on 2: 1000, 10 pJ, which is as fast as flat on 4 and takes less.
  const Front front = front_of(all, {Goal("cycles", "-x"), Goal("energy_pj.total", "-y")}, "a.db");
  ASSERT_EQ(front.rows.size(), 2U);
  EXPECT_EQ(all.settings(all.rows()[front.rows[0]]), "cores=2, dataflow=mas");
  EXPECT_EQ(all.settings(all.rows()[front.rows[1]]), "cores=1, dataflow=mas");
  EXPECT_EQ(front_csv(all, front),
            "cycles,energy_pj.total,cores,dataflow,command\n1000,10,2,mas,attnvp run </script>\n"
            "2000,5,1,mas,attnvp run </script>\n");
  const Front most = front_of(all, {Goal("max:cores * 2", "-x"), Goal("cycles", "-y")}, "a.db");
  ASSERT_EQ(most.rows.size(), 1U);  // 4 cores: flat with 1000 cycles
  EXPECT_EQ(all.settings(all.rows()[most.rows[0]]), "cores=4, dataflow=flat");
  const Selection flat(made.path(), "dataflow == 'flat' and cores >= 2");
  EXPECT_EQ(flat.rows().size(), 2U);
  EXPECT_EQ(flat.axes().size(), 1U);
  EXPECT_THROW(Selection(made.path(), "cores > 4"), config::ConfigError);
  EXPECT_THROW(Goal("cycels", "-x"), config::ConfigError);
  EXPECT_THROW(Goal("cycles < 3", "-x"), config::ConfigError);
  const MadeUp two(true);
  EXPECT_THROW(front_of(Selection(two.path(), ""), front.goals, "a.db"), config::ConfigError);
}

// Designs of two networks: cores 1, 2 and 4 with areas 1, 2, 4; decoding on 4 cores has failed.
class TwoNetworks : public DatabaseFolder {
 public:
  TwoNetworks() {
    Database db(path(), Database::Mode::kWrite);
    db.add_axes({"cores", "network"});
    db.begin();
    for (const std::int64_t cores : {1, 2, 4}) {
      for (const char* network : {"long", "short"}) {
        const bool is_long = network == std::string("long");
        SqlRow row(columns().size());
        const auto set = [&](const char* column, SqlValue cell) { row[column_index(column)] = std::move(cell); };
        set("key", network + std::to_string(cores));
        set("hardware", "edge");
        set("cores", cores);
        set("network", network);
        set("dataflow", "mas");
        set("status", cores == 4 && !is_long ? kFailed : kDone);
        set("command", std::string("run ") + network);
        set("cycles", is_long ? 1000 / cores : 10 * cores);
        set("area_mm2.total", static_cast<double>(cores));
        db.store(row);
      }
    }
    db.commit();
  }
};

TEST(Pareto, CombinesNetworks) {
  const TwoNetworks made;
  const Networks networks({"prefill=long", "decode=short"});
  const Selection all(made.path(), "", networks);
  EXPECT_EQ(all.rows().size(), 2U);
  EXPECT_EQ(all.failed(), 1U);
  EXPECT_EQ(all.incomplete(), 1U);  // 4 cores
  const auto front_with = [&](const Selection& s, const char* weight) {
    return front_csv(s, front_of(s,
                                 {Goal(std::string("prefill.cycles + ") + weight + " * decode.cycles", "-x", networks),
                                  Goal("decode.area_mm2.total", "-y", networks)},
                                 "a.db"));
  };
  const std::string commands = ",run long,run short\n";
  // 1000 + 10 and 500 + 20; with a weight of 100: 1000 + 1000 and 500 + 2000.
  EXPECT_EQ(front_with(all, "1"),
            "prefill.cycles + 1 * decode.cycles,decode.area_mm2.total,cores,prefill.command,decode.command\n520,2,2" +
                commands + "1010,1,1" + commands);
  EXPECT_EQ(
      front_with(all, "100"),
      "prefill.cycles + 100 * decode.cycles,decode.area_mm2.total,cores,prefill.command,decode.command\n2000,1,1" +
          commands);
  EXPECT_EQ(networks.sum_of("cycles"), "prefill.cycles + decode.cycles");
  EXPECT_EQ(Networks().sum_of("cycles"), "cycles");
  const Selection limited(made.path(), "decode.cycles <= 10 and cores < 4", networks);
  ASSERT_EQ(limited.rows().size(), 1U);
  EXPECT_EQ(limited.number(limited.rows()[0], column_index("cores")), 1);
  EXPECT_THROW(Goal("cycles", "-x", networks), config::ConfigError);  // of which network?
  EXPECT_THROW(Selection(made.path(), "", Networks({"a=other"})), config::ConfigError);
  for (const char* wrong : {"long", "=long", "a=", "l1=long", "a b=long", "cycles=long"}) {
    EXPECT_THROW(Networks({wrong}), config::ConfigError) << wrong;
  }
  EXPECT_THROW(Networks({"a=long", "a=short"}), config::ConfigError);
}

TEST(Sensitivity, KnownMeansAndShares) {
  const MadeUp made;
  const Selection s(made.path(), "cores < 4");
  const std::vector<Goal> goals = {Goal("cycles", "x"), Goal("energy_pj.total", "y")};
  // log2(cycles / 1000): flat 2, 1; mas 1, 0. Means by cores 1.5, 0.5; by dataflow likewise: half of the variance each.
  const std::vector<Effect> effects = sensitivity_of(s, goals);
  ASSERT_EQ(effects.size(), 4U);
  for (const Effect& e : effects) {
    const bool cores = columns()[e.axis].name == "cores";
    EXPECT_EQ(e.levels.size(), 2U);
    EXPECT_NEAR(e.share, e.goal == 0 ? 0.5 : cores ? 1 : 0, 1e-12);
    EXPECT_NEAR(e.factor, e.goal == 0 || cores ? 2 : 1, 1e-12);
    if (e.goal == 0 && cores) {
      EXPECT_NEAR(e.levels[0].mean, std::sqrt(4000.0 * 2000), 1e-9);
      EXPECT_EQ(e.levels[0].least, 2000);
      EXPECT_EQ(e.levels[0].most, 4000);
    }
  }
  EXPECT_EQ(columns()[effects.front().axis].name, "cores");  // explains all of the energy
}

TEST(Versus, CountsWinsAndNamesLosses) {
  const MadeUp made;
  const Selection s(made.path(), "");
  const Goal goal("cycles", "-x");
  const Versus v = versus_of(s, "mas,flat", goal);
  ASSERT_EQ(v.pairs.size(), 3U);
  EXPECT_NEAR(v.pairs[0].gain, 0.8, 1e-12);
  EXPECT_NEAR(v.pairs[2].gain, 2.0, 1e-12);
  const std::string text = versus_text(s, v, goal, 10);
  EXPECT_NE(text.find("95% or more                    2           2      0          0"), std::string::npos) << text;
  EXPECT_NE(text.find("less                           1           0      0          1"), std::string::npos) << text;
  EXPECT_NE(
      text.find("mas is worse in 1 of 3 pairs; in 1 of these it moves more bytes through DRAM, in 1 its row blocks"),
      std::string::npos);
  EXPECT_NE(text.find("    4  0.800x  dram 100%         3.00x  8 for 16"), std::string::npos) << text;
  for (const char* names : {"mas", "mas,flta", "flat,flat:prefetch=off"}) {
    EXPECT_THROW(versus_of(s, names, goal), config::ConfigError) << names;
  }
}

TEST(Measure, SaysInWordsWhatAnAxisIs) {
  const std::pair<const char*, const char*> kWords[] = {
      {"cycles", "Cycles"},     {"energy_pj.total", "Energy"},          {"energy_pj.dram", "Energy of DRAM"},
      {"l1.size", "L1 size"},   {"dram.read_bytes", "DRAM bytes read"}, {"utilization.mac", "Busy share of MAC"},
      {"mac.rows", "MAC rows"}, {"cycles / 1000", "cycles / 1000"}};
  for (const auto& [column, words] : kWords) EXPECT_EQ(words_of(column), words);
  EXPECT_EQ(measure_of(Goal("cycles", "-x"), {1.5e6, 2e4}).title(), "Cycles (millions)");
  EXPECT_EQ(measure_of(Goal("cycles", "-x"), {1.5e6, 2e4}).tick(1.5e6), "1.5");
  EXPECT_EQ(measure_of(Goal("cycles", "-x"), {900}).title(), "Cycles");
  EXPECT_EQ(measure_of(Goal("energy_pj.total", "-x"), {3e9, 1e7}).title(), "Energy (mJ)");
  EXPECT_EQ(measure_of(Goal("l1.size", "-x"), {1 << 20}).title(), "L1 size (MiB)");
  EXPECT_EQ(measure_of(Goal("l1.size", "-x"), {1 << 20}).tick(1 << 19), "0.5");
  EXPECT_EQ(measure_of(Goal("dram.bandwidth", "-x"), {3e10}).title(), "DRAM bandwidth (GB/s)");
  EXPECT_EQ(measure_of(Goal("utilization.mac", "-x"), {0.5}).tick(0.5), "50");
}

TEST(Sensitivity, KnowsEachRowsLevel) {
  const MadeUp made;
  const Selection s(made.path(), "");
  const std::vector<Goal> goals = {Goal("cycles", "x")};
  for (const Effect& e : sensitivity_of(s, goals)) {
    for (std::size_t i = 0; i < s.rows().size(); ++i)
      EXPECT_EQ(e.levels[e.level_of[i]].text, s.text(s.rows()[i], e.axis));
  }
}

TEST(Page, HasEveryJobAndEscapesItsText) {
  const MadeUp made;
  const Selection s(made.path(), "");
  const Front front = front_of(s, {Goal("cycles", "-x"), Goal("energy_pj.total", "-y")}, "a.db");
  const std::string page = page_html({"<title>", ""}, s, front, sensitivity_of(s, front.goals));
  EXPECT_EQ(page.find("<title><title>"), std::string::npos);
  EXPECT_EQ(page.find("run </script>"), std::string::npos);
  std::size_t jobs = 0;
  for (std::size_t at = 0; (at = page.find("\"command\":\"attnvp run", at)) != std::string::npos; ++at) ++jobs;
  EXPECT_EQ(jobs, 6U);
  EXPECT_EQ(page, page_html({"<title>", ""}, s, front, sensitivity_of(s, front.goals)));
}

}  // namespace
}  // namespace attnvp::explore
