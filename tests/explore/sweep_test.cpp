// Sweeps: axes, points, plans and their keys, rows, databases, merging.
#include "explore/sweep/sweep.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "explore/layers/layers.h"
#include "platform/machine/hardware.h"
#include "tests/platform/test_files.h"

namespace attnvp::explore {
namespace {

namespace fs = std::filesystem;
using testing::message_of;
using testing::TemporaryFolder;

SweepFile sweep_of(const TemporaryFolder& folder, const std::string& text) {
  return load_sweep(folder.write("s.yaml", text));
}

TEST(SweepFile, MistakesAreToldWithTheirLine) {
  const TemporaryFolder folder;
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"axes:\n  l1.size: []\n", "s.yaml:2: axis 'l1.size' has no values"},
      {"axes:\n  l1.sise: [1 MiB]\n", "s.yaml:2: key 'l1.sise' is unknown; did you mean 'l1.size'"},
      {"axis:\n  l1.size: [1 MiB]\n", "s.yaml:1: key 'axis' is unknown; did you mean 'axes'"},
      {"axes:\n  cores: [1]\n  l1.size: [1 MiB, 8 GiB]\n", "s.yaml:3: key 'l1.size': found '8 GiB'; allowed is"},
      {"axes:\n  l1.size: [1 MiB, 1 MiB]\n", "s.yaml:2: axis 'l1.size': '1 MiB' is given twice"},
      {"axes:\n  cores: [1]\nset:\n  cores: 2\n", "s.yaml:2: key 'cores' is given twice, first in line 4"},
      {"axes:\n  cores: {from: 1, to: 8}\n", "s.yaml:2: axis 'cores': a range in a grid needs 'points'"},
      {"axes:\n  cores: {from: 8, to: 1, points: 2}\n", "'from' is not less than 'to'"},
      {"axes:\n  dma.arbitration: {from: 1, to: 2}\n", "allowed is a list: age, priority"},
      {"axes:\n  mac.rows, mac.columns: [[1, 2], [3]]\n", "found 1 values; allowed is one for each of its 2 keys"},
      {"axes:\n  name: [a]\n", "key 'name' cannot be an axis"},
      {"kind: grit\n", "s.yaml:1: key 'kind': found 'grit'; allowed: grid, random, lhs"},
      {"kind: lhs\naxes: {cores: [1, 2]}\n", "key 'samples' is missing"},
      {"samples: 3\n", "s.yaml:1: key 'samples' is for kind random or lhs"},
      {"kind: lhs\nsamples: 0\n", "s.yaml:2: key 'samples': found '0'"},
      {"network: bert-bass\n", "s.yaml:1: key 'network': 'bert-bass' is not in"},
      {"dataflow: [mas, maz]\n", "s.yaml:1: key 'dataflow': dataflow 'maz' is unknown"},
      {"tiling: nqq=3\n", "s.yaml:1: key 'tiling': --tiling nqq=3: key 'nqq' is unknown"},
      {"dataflow: mas\naxes:\n  dataflow: [flat]\n", "s.yaml:1: key 'dataflow' is an axis too, in line 3"},
      {"constraints:\n  - l1.size <= 8\n", "s.yaml:2: expression 'l1.size <= 8': <= needs two of a kind"},
      {"constraints: l1.size <= 8 MiB\n", "key 'constraints' must be a list"},
      {"set:\n  l1.ports: = 2 * l1.size\n", "s.yaml:2: key 'l1.ports': the expression is in bytes, the key in a plain"},
      {"set:\n  dma.arbitration: = 3\n", "found an expression; allowed is age"},
  };
  for (const auto& [text, what] : cases) {
    const std::string said = message_of([&, t = text] { sweep_of(folder, t); });
    EXPECT_NE(said.find(what), std::string::npos) << text << said;
  }
  const auto plan = [&](const char* text) { return message_of([&] { make_plan(sweep_of(folder, text)); }); };
  EXPECT_NE(plan("constraints: ['cores > 64']\n").find("there is no job to do"), std::string::npos);
  EXPECT_NE(plan("axes: {cores: [1, 3]}\nset: {l1.ports: = cores / 2}\n").find("allowed is a whole number"),
            std::string::npos);
  EXPECT_NE(plan("axes: {cores: [1, 3]}\nset: {l1.ports: = cores * 1000}\n").find("allowed is 1 to 1024"),
            std::string::npos);
  EXPECT_NE(plan("axes:\n  l1.size: {from: 1 MiB, to: 2 MiB, points: 9999}\n"
                 "  l0.size: {from: 1 KiB, to: 9 KiB, points: 999}\n")
                .find("jobs; allowed are 1000000"),
            std::string::npos);
}

// Wherever the sweep was started.
TEST(SweepFile, NamesFilesFromItsOwnFolder) {
  const TemporaryFolder folder;
  const std::string config = R"({"model_type": "gpt2", "n_embd": 64, "n_head": 2, "n_layer": 1, "n_positions": 64})";
  folder.write("there/gpt/config.json", config);
  folder.write("there/mask.txt", "block 16\n11\n11\n");
  folder.write("there/net.yaml", "heads: 2\nseq: 32\nemb: 16\n");
  folder.write("there/table.yaml", "base: fusemax-45nm\n");
  const std::string path = folder.write("there/s.yaml",
                                        "network: ['hf:gpt', 'hf:./gpt,N=32', 'H=1,N=32,E=16,block_mask=mask.txt', "
                                        "'net.yaml,causal=1', './net.yaml']\naxes:\n  control.firmware: [shipped]\n");
  const SweepFile sweep = load_sweep(path);
  const std::string there = folder.path("there/");
  std::vector<std::string> networks;
  for (const auto& texts : sweep.crossed[1].values) networks.push_back(texts.front());
  EXPECT_EQ(networks, (std::vector<std::string>{"hf:" + there + "gpt", "hf:" + there + "gpt,N=32",
                                                "H=1,N=32,E=16,block_mask=" + there + "mask.txt",
                                                there + "net.yaml,causal=1", there + "net.yaml"}));
  EXPECT_EQ(sweep.axes.front().values.front().front(), "shipped");
  EXPECT_EQ(make_plan(sweep).jobs.size(), 5U);
  const std::string settings =
      folder.write("there/t.yaml", "network: H=1,N=16,E=16\nset:\n  control.firmware: a.elf\n");
  EXPECT_EQ(load_sweep(settings).settings.front().text, there + "a.elf");
}

TEST(SweepPlan, GridTakesEveryPointOnce) {
  const TemporaryFolder folder;
  const SweepPlan plan =
      make_plan(sweep_of(folder,
                         "dataflow: [mas, flat]\n"
                         "axes:\n"
                         "  cores: [1, 2, 4]\n"
                         "  mac.rows, mac.columns: [[8, 16], [16, 8]]\n"
                         "  l1.size: {from: 1 MiB, to: 8 MiB, scale: log, points: 4}\n"
                         "set:\n  l1.ports: = 2 * cores + 1\n"
                         "constraints:\n  - l1.size * cores <= 16 MiB\n  - dataflow == 'mas' or cores > 1\n"));
  // 3 x 2 x 4 x 2, less 4 cores with 8 MiB (2 arrays, 2 dataflows), less flat on 1 core (2 arrays, 4 sizes).
  EXPECT_EQ(plan.jobs.size(), 48U - 4 - 8);
  EXPECT_EQ(plan.excluded, 12U);
  std::set<std::string> keys;
  std::set<std::uint64_t> sizes;
  for (const SweepJob& job : plan.jobs) {
    const MachineConfig& m = plan.machines[job.machine].config;
    EXPECT_EQ(m.l1.ports, 2 * m.cores + 1);
    EXPECT_EQ(m.mac.rows * m.mac.columns, 128U);
    sizes.insert(m.l1.size_bytes);
    keys.insert(job.key);
  }
  EXPECT_EQ(keys.size(), plan.jobs.size());
  EXPECT_EQ(sizes, (std::set<std::uint64_t>{1 << 20, 2 << 20, 4 << 20, 8 << 20}));
  EXPECT_TRUE(std::is_sorted(plan.jobs.begin(), plan.jobs.end(),
                             [](const SweepJob& a, const SweepJob& b) { return a.machine < b.machine; }));
  EXPECT_EQ(
      plan.command(plan.jobs.front()),
      "attnvp run --hw edge --set cores=1 --set mac.rows=8 --set 'l1.size=1 MiB' --set l1.ports=3 --net bert-base "
      "--dataflow mas --data timing");
}

TEST(SweepPlan, AxesMayBeKeysOfSingleCores) {
  const TemporaryFolder folder;
  const SweepPlan plan = make_plan(sweep_of(folder,
                                            "network: H=2,N=48,E=16\n"
                                            "axes:\n"
                                            "  cores.2.mac.rows: [8, 32]\n"
                                            "  cores: [3, 4]\n"
                                            "set:\n  cores.0.vec.lanes: = 4 * vec.lanes\n"));
  ASSERT_EQ(plan.machines.size(), 4U);
  std::set<std::string> keys;
  for (const SweepJob& job : plan.jobs) {
    const PlannedMachine& m = plan.machines[job.machine];
    const std::uint32_t rows = m.config.core(2).mac.rows;
    EXPECT_TRUE(rows == 8 || rows == 32);
    EXPECT_EQ(m.config.core(0).vec.lanes, 1024U);
    EXPECT_EQ(m.config.core(1).vec.lanes, 256U);
    EXPECT_NE(m.settings.find(" --set cores.2.mac.rows=" + std::to_string(rows)), std::string::npos) << m.settings;
    keys.insert(job.key);
  }
  EXPECT_EQ(keys.size(), 4U);
}

TEST(SweepPlan, AxesMayBeKeysOfSingleClusters) {
  const TemporaryFolder folder;
  const SweepPlan plan = make_plan(sweep_of(folder,
                                            "network: H=2,N=48,E=16\n"
                                            "axes:\n"
                                            "  clusters.1.cores.0.mac.rows: [8, 16]\n"
                                            "  clusters.1.l1.size: [2 MiB, 5 MiB]\n"
                                            "  clusters: [2, 3]\n"));
  ASSERT_EQ(plan.machines.size(), 8U);
  std::set<std::string> keys;
  for (const SweepJob& job : plan.jobs) {
    const PlannedMachine& m = plan.machines[job.machine];
    const MachineConfig own = m.config.with_cluster(1);
    keys.insert(job.key);
    const std::string rows = " --set clusters.1.cores.0.mac.rows=8", size = " --set 'clusters.1.l1.size=2 MiB'";
    EXPECT_EQ(m.settings.find(rows) != std::string::npos, own.core(0).mac.rows == 8) << m.settings;
    EXPECT_EQ(m.settings.find(size) != std::string::npos, own.l1.size_bytes == 2U << 20) << m.settings;
    EXPECT_EQ(m.config.l1.size_bytes, 5U << 20);
    EXPECT_NE(m.settings.find(" --set clusters="), std::string::npos) << m.settings;
  }
  EXPECT_EQ(keys.size(), 8U);
}

TEST(SweepPlan, KeysSayWhatResultsDependOn) {
  const TemporaryFolder folder;
  const auto key = [&](const std::string& text) { return make_plan(sweep_of(folder, text)).jobs.at(0).key; };
  const std::string base = key("dataflow: flat\n");
  EXPECT_EQ(base, key("axes: {cores: [2]}\ndataflow: flat:prefetch=on\ntiling: default\n"));
  for (const char* other : {"dataflow: mas\n", "dataflow: flat:prefetch=off\n", "dataflow: flat\ntiling: nq=32\n",
                            "dataflow: flat\ntiling: auto\n", "dataflow: flat\nnetwork: t5-mini\n",
                            "dataflow: flat\ndata: full\n", "dataflow: flat\nset: {dram.latency: 21 ns}\n"}) {
    EXPECT_NE(base, key(other)) << other;
  }
  EXPECT_EQ(make_plan(sweep_of(folder, "dataflow: [flat, 'flat:prefetch=on']\n")).jobs.size(), 1U);
}

// Fusion by time has other results than the operations apart, which it begins with.
TEST(Jobs, OfFusedLayersDiffer) {
  const TemporaryFolder folder;
  const std::string shape = "H=2,N=48,E=16,hidden=32,ffn=64,scope=layer";
  const SweepPlan plan =
      make_plan(sweep_of(folder, "network: ['" + shape + "', '" + shape + ",fuse=on', '" + shape + ",fuse=auto']\n"));
  std::set<std::string> keys;
  for (const SweepJob& job : plan.jobs) keys.insert(job.key);
  EXPECT_EQ(keys.size(), 3U);
}

TEST(Rows, OfLayersAndModelsAreTheSumsOfTheirOperations) {
  const TemporaryFolder folder;
  const std::string shape = "H=2,N=48,E=16,causal=1,hidden=32,ffn=64,layers=3,vocabulary=50";
  const SweepPlan plan = make_plan(sweep_of(folder, "network: ['" + shape + ",scope=layer', '" + shape +
                                                        ",scope=model', '" + shape + "']\ndataflow: [flat, auto]\n"));
  ASSERT_EQ(plan.jobs.size(), 6U);
  const MachineConfig machine = config::load_hardware("edge");
  JobRunner runner(plan);
  for (std::uint32_t i = 0; i < plan.jobs.size(); ++i) {
    const Outcome outcome = runner.run(i);
    ASSERT_EQ(std::string(outcome.status), kDone) << outcome.text;
    const SqlRow row = row_of(plan, plan.jobs[i], outcome);
    const workload::Workload& n = plan.networks[plan.jobs[i].network];
    const bool is_auto = plan.schedules[plan.jobs[i].schedule].is_auto;
    EXPECT_EQ(std::holds_alternative<std::string>(row[column_index("chosen")]), is_auto);
    if (n.scope == workload::Scope::kAttention) continue;
    LayerOptions options;
    options.full = false;
    const LayerRun run = run_layer(machine, n, is_auto ? "auto" : "flat", config::load_energy(machine.energy), options);
    const LayerTotals sum = run.totals();
    EXPECT_EQ(std::get<std::int64_t>(row[column_index("cycles")]), static_cast<std::int64_t>(sum.cycles));
    EXPECT_NEAR(std::get<double>(row[column_index("energy_pj.total")]), sum.energy_pj, 1e-9 * sum.energy_pj);
    EXPECT_EQ(std::get<std::int64_t>(row[column_index("dram.read_bytes")]) +
                  std::get<std::int64_t>(row[column_index("dram.write_bytes")]),
              static_cast<std::int64_t>(sum.dram_bytes));
  }
}

TEST(Points, LatinHypercubeUsesEveryStratumOnce) {
  const TemporaryFolder folder;
  const std::string text =
      "kind: lhs\nsamples: 40\nseed: 7\naxes:\n"
      "  l1.size: {from: 1 MiB, to: 5 MiB, multiple: 1 KiB}\n  cores: [1, 2, 4, 8]\n";
  const SweepFile sweep = sweep_of(folder, text);
  std::vector<SweepPoint> points;
  for_each_point(sweep, [&](const SweepPoint& p) {
    points.push_back(p);
    return true;
  });
  ASSERT_EQ(points.size(), 40U);
  std::set<int> strata;
  std::map<std::string, int> cores;
  for (const SweepPoint& p : points) {
    const double size = static_cast<double>(config::parse_integer(config::KeyUnit::kBytes, p[0]));
    EXPECT_EQ(static_cast<std::uint64_t>(size) % 1024, 0U);
    strata.insert(static_cast<int>((size - (1 << 20)) / (4 << 20) * 40 * 0.99999));
    ++cores[p[1]];
  }
  EXPECT_GE(strata.size(), 39U);  // rounding to 1 KiB may carry one over
  for (const auto& [value, count] : cores) EXPECT_EQ(count, 10) << value;
  std::vector<SweepPoint> again;
  for_each_point(sweep_of(folder, text), [&](const SweepPoint& p) {
    again.push_back(p);
    return true;
  });
  EXPECT_EQ(points, again);
  EXPECT_NE(make_plan(sweep).jobs[0].key,
            make_plan(sweep_of(folder, "kind: lhs\nsamples: 40\nseed: 8\naxes:\n  l1.size: {from: 1 MiB, to: 5 MiB}\n"))
                .jobs[0]
                .key);
}

TEST(Points, RandomSamplesUntilTheConstraintsLeaveEnough) {
  const TemporaryFolder folder;
  const SweepPlan plan = make_plan(sweep_of(folder,
                                            "kind: random\nsamples: 50\ndataflow: [mas, flat]\naxes:\n"
                                            "  dram.bandwidth: {from: 10 GB/s, to: 100 GB/s, scale: log}\n"
                                            "  dma.burst: {from: 256 B, to: 4 KiB}\n"
                                            "constraints: ['dram.bandwidth < 20 GB/s']\n"));
  EXPECT_EQ(plan.machines.size(), 50U);  // those that the constraint refuses are not kept
  EXPECT_GT(plan.excluded, 0U);
  EXPECT_EQ(plan.jobs.size(), 100U);
  for (const SweepJob& job : plan.jobs) {
    const MachineConfig& m = plan.machines[job.machine].config;
    EXPECT_LT(m.dram.bytes_per_second, 20e9);
    EXPECT_EQ(m.dma.burst_bytes & (m.dma.burst_bytes - 1), 0U);
  }
}

TEST(SweepPlan, SharesHaveEveryJobOnce) {
  const TemporaryFolder folder;
  for (const char* text : {"axes:\n  l1.size: {from: 1 MiB, to: 5 MiB, points: 50}\ndataflow: [mas, flat]\n",
                           "dataflow: [layerwise, softpipe, flat, tileflow, mas]\n"}) {
    const SweepPlan plan = make_plan(sweep_of(folder, text));
    for (const std::uint32_t n : {1U, 2U, 3U, 7U}) {
      std::multiset<std::uint32_t> all;
      for (std::uint32_t k = 1; k <= n; ++k) {
        for (const std::uint32_t job : share_of(plan, k, n)) all.insert(job);
      }
      ASSERT_EQ(all.size(), plan.jobs.size());
      for (std::uint32_t i = 0; i < plan.jobs.size(); ++i) EXPECT_EQ(all.count(i), 1U);
    }
  }
}

// Whatever the report has is in the table, but for the simulator's own effort.
void expect_whole_report(const SweepPlan& plan) {
  JobRunner runner(plan);
  const Outcome outcome = runner.run(0);
  ASSERT_STREQ(outcome.status, kDone) << outcome.text;
  const SqlRow row = row_of(plan, plan.jobs[0], outcome);
  const nlohmann::json report = nlohmann::json::parse(outcome.text);
  std::function<void(const nlohmann::json&, const std::string&)> visit = [&](const nlohmann::json& node,
                                                                             const std::string& path) {
    if (path == "time" || path == "imbalance" || path == "bound.demands" || path == "bound.advice") return;  // long
    if (path == "simulation" || path == "schema" || path == "version" || path == "hardware" || path == "network")
      return;
    if (node.is_object() && path != "counters") {
      for (const auto& [key, value] : node.items()) visit(value, path.empty() ? key : path + "." + key);
      return;
    }
    const Column* column = find_column(path);
    ASSERT_NE(column, nullptr) << path << " is in the report and not in the sweep's columns";
    const SqlValue& cell = row[column_index(path)];
    if (node.is_number_float()) {
      EXPECT_EQ(std::get<double>(cell), node.get<double>()) << path;
    }
    if (node.is_number_integer() && !column->is_text()) {
      EXPECT_EQ(static_cast<std::uint64_t>(std::get<std::int64_t>(cell)), node.get<std::uint64_t>()) << path;
    }
    if (node.is_boolean()) {
      EXPECT_EQ(std::get<std::int64_t>(cell), node.get<bool>() ? 1 : 0) << path;
    }
  };
  visit(report, "");
  EXPECT_EQ(std::get<std::int64_t>(row[column_index("l1.size")]), 5 << 20);
  EXPECT_EQ(std::get<double>(row[column_index("dram.bandwidth")]), 30e9);
  EXPECT_EQ(std::get<std::int64_t>(row[column_index("golden.passed")]), 1);
}

TEST(SqlRow, HasEveryNumberOfTheReport) {
  const TemporaryFolder folder;
  for (const char* text : {"network: H=2,N=48,E=16\ndata: full\n",
                           "network: H=2,N=48,E=16\ndataflow: layerwise\ntiling: 'nq=16,np=4'\ndata: full\n",
                           "network: H=2,N=48,E=16\ndataflow: weave\ntiling: 'walk=rows'\ndata: full\n",
                           "network: H=2,N=48,E=16\ndataflow: weave\ntiling: 'walk=tiles'\ndata: full\n",
                           "network: 'H=2,HKV=1,NQ=1,L=300+90,E=16'\ndataflow: lean\ndata: full\n"}) {
    SCOPED_TRACE(text);
    expect_whole_report(make_plan(sweep_of(folder, text)));
  }
}

SweepProgress run(const SweepPlan& plan, const std::string& database, unsigned jobs = 1, std::uint32_t shard = 1,
                  std::uint32_t shards = 1) {
  SweepOptions options;
  options.database = database;
  options.jobs = jobs;
  options.shard = shard;
  options.shards = shards;
  return run_sweep(plan, options);
}

std::vector<SqlRow> rows(const std::string& path) { return Database(path, Database::Mode::kRead).rows(); }

const char* const kSmall =
    "network: H=2,N=48,E=16\ndataflow: [layerwise, flat, mas]\ntiling: [default, 'nq=16', 'nq=999']\n"
    "axes:\n  l1.size: [96 KiB, 128 KiB, 60 KiB]\n  cores: [1, 2]\n";

TEST(Sweep, FailuresAreRowsAndNothingIsDoneTwice) {
  const TemporaryFolder folder;
  const SweepPlan plan = make_plan(sweep_of(folder, kSmall));
  const SweepProgress first = run(plan, folder.path("a.db"), 2);
  EXPECT_EQ(first.jobs, 54U);
  EXPECT_EQ(first.done + first.failed, 54U);
  // nq=999 is larger than the layer; an L1 of 60 KiB is smaller than L0.
  EXPECT_EQ(first.failed, 18U + 12U);
  EXPECT_EQ(first.crashed, 0U);
  std::size_t failed = 0;
  for (const SqlRow& row : rows(folder.path("a.db"))) {
    const bool done = std::get<std::string>(row[column_index("status")]) == kDone;
    EXPECT_EQ(std::holds_alternative<std::int64_t>(row[column_index("cycles")]), done);
    if (done) continue;
    ++failed;
    const std::string error = std::get<std::string>(row[column_index("error")]);
    EXPECT_TRUE(error.find("larger than the layer") != std::string::npos ||
                error.find("'l0.size'") != std::string::npos)
        << error;
  }
  EXPECT_EQ(failed, first.failed);
  const SweepProgress second = run(plan, folder.path("a.db"), 2);
  EXPECT_EQ(second.skipped, 54U);
  EXPECT_EQ(second.left(), 0U);
  EXPECT_EQ(second.done + second.failed, 0U);
}

// A machine that has run other jobs before gives what a fresh one gives.
TEST(Sweep, RowsDependOnNeitherOrderNorProcesses) {
  const TemporaryFolder folder;
  const SweepPlan plan = make_plan(sweep_of(folder, kSmall));
  run(plan, folder.path("one.db"), 1);
  run(plan, folder.path("two.db"), 2);
  for (std::uint32_t k = 1; k <= 3; ++k) run(plan, folder.path("shard" + std::to_string(k) + ".db"), 1, k, 3);
  const MergeResult merged = merge_databases(
      folder.path("all.db"), {folder.path("shard1.db"), folder.path("shard2.db"), folder.path("shard3.db")});
  EXPECT_EQ(merged.rows, 54U);
  EXPECT_EQ(merged.added, 54U);
  const std::vector<SqlRow> expected = rows(folder.path("one.db"));
  ASSERT_EQ(expected.size(), 54U);
  EXPECT_EQ(expected, rows(folder.path("two.db")));
  EXPECT_EQ(expected, rows(folder.path("all.db")));
  const MergeResult again = merge_databases(folder.path("all.db"), {folder.path("shard2.db"), folder.path("one.db")});
  EXPECT_EQ(again.added, 0U);
  EXPECT_EQ(again.rows, 54U);
  for (std::size_t i = 0; i < plan.jobs.size(); i += 7) {
    JobRunner fresh(plan);
    const SqlRow row = row_of(plan, plan.jobs[i], fresh.run(static_cast<std::uint32_t>(i)));
    EXPECT_EQ(std::count(expected.begin(), expected.end(), row), 1) << i;
  }
}

void sql(const std::string& path, const std::string& text) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, text.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  sqlite3_close(db);
}

// Changes rows as a program would, checksums and all.
void change_rows(const std::string& path, const std::string& dataflow, const std::function<void(SqlRow&)>& change) {
  Database database(path, Database::Mode::kWrite);
  std::vector<SqlRow> all = database.rows();
  database.begin();
  for (SqlRow& row : all) {
    if (row[column_index("dataflow")] != SqlValue(dataflow)) continue;
    change(row);
    database.store(row);
  }
  database.commit();
}

TEST(Merge, RefusesWhatDoesNotGoTogether) {
  const TemporaryFolder folder;
  const SweepPlan plan = make_plan(sweep_of(folder, "network: H=2,N=48,E=16\ndataflow: [flat, mas]\n"));
  const std::string a = folder.path("a.db"), b = folder.path("b.db"), c = folder.path("c.db");
  run(plan, a);
  fs::copy_file(a, b);
  change_rows(b, "mas", [](SqlRow& row) { row[column_index("cycles")] = std::int64_t{1}; });
  EXPECT_NE(message_of([&] { merge_databases(c, {a, b}); }).find("have different results for job"), std::string::npos);
  EXPECT_FALSE(fs::exists(c));
  // A crashed row gives way, from whichever side it comes.
  change_rows(b, "mas", [](SqlRow& row) {
    row[column_index("cycles")] = {};
    row[column_index("status")] = std::string(kCrashed);
    row[column_index("error")] = std::string("signal 9");
  });
  merge_databases(c, {a, b});
  merge_databases(folder.path("d.db"), {b, a});
  merge_databases(b, {a});
  EXPECT_EQ(rows(a), rows(c));
  EXPECT_EQ(rows(a), rows(folder.path("d.db")));
  EXPECT_EQ(rows(a), rows(b));
  sql(b, "UPDATE meta SET value = 'other' WHERE name = 'simulator'");
  EXPECT_NE(message_of([&] {
              merge_databases(c, {a, b});
            }).find("another version of the simulator"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              merge_databases(c, {a, folder.path("none.db")});
            }).find("none.db: no such file"),
            std::string::npos);
}

// A trigger could change what is stored, and an index that allows a value once would drop rows.
TEST(Merge, RefusesADestinationThatChangesRows) {
  const TemporaryFolder folder;
  const SweepPlan plan = make_plan(sweep_of(folder, "network: H=2,N=48,E=16\ndataflow: [flat, mas]\n"));
  const std::string whole = folder.path("whole.db"), empty = folder.path("empty.db");
  run(plan, whole);
  { const Database made(empty, Database::Mode::kWrite); }
  for (const auto& [change, what] :
       {std::pair{"CREATE TRIGGER gone AFTER INSERT ON jobs BEGIN DELETE FROM jobs; END", "holds the trigger 'gone'"},
        {"CREATE TRIGGER gone AFTER UPDATE ON meta BEGIN DELETE FROM jobs; END", "holds the trigger 'gone'"},
        {"CREATE UNIQUE INDEX once ON jobs (network)", "holds the unique index 'once'"}}) {
    const std::string copy = folder.path("copy.db");
    fs::copy_file(empty, copy, fs::copy_options::overwrite_existing);
    sql(copy, change);
    EXPECT_NE(message_of([&, c = copy] { merge_databases(c, {whole}); }).find(what), std::string::npos) << change;
  }
  const std::string looked_at = folder.path("view.db");
  fs::copy_file(empty, looked_at);
  sql(looked_at, "CREATE VIEW quick AS SELECT * FROM jobs WHERE cycles < 1000; CREATE INDEX by_net ON jobs (network)");
  EXPECT_EQ(merge_databases(looked_at, {whole}).rows, 2U);
  EXPECT_EQ(rows(looked_at), rows(whole));
}

TEST(Database, RefusesWhatItDoesNotKnow) {
  const TemporaryFolder folder;
  const SweepPlan plan = make_plan(sweep_of(folder, "network: H=2,N=48,E=16\n"));
  const std::string path = folder.path("a.db");
  run(plan, path);
  const auto refusal = [&](const std::string& change) {
    const std::string copy = folder.path("copy.db");
    fs::copy_file(path, copy, fs::copy_options::overwrite_existing);
    sql(copy, change);
    return message_of([&] { run(plan, copy); });
  };
  EXPECT_NE(refusal("PRAGMA user_version = 2").find("has schema version 2; this attnvp reads version 3"),
            std::string::npos);
  EXPECT_NE(refusal("PRAGMA application_id = 0").find("not a database of attnvp sweep"), std::string::npos);
  EXPECT_NE(refusal("ALTER TABLE jobs RENAME COLUMN cycles TO ticks").find("'ticks' where this one has 'cycles'"),
            std::string::npos);
  EXPECT_NE(refusal("UPDATE jobs SET seconds = seconds / 2").find("its values do not match its checksum"),
            std::string::npos);
  EXPECT_NE(refusal("UPDATE meta SET name = 'axis none' WHERE name LIKE 'sweep %'").find("is damaged: it says"),
            std::string::npos);
  EXPECT_NE(refusal("UPDATE meta SET value = 'x'").find("another version of the simulator"), std::string::npos);
  EXPECT_NE(message_of([&] { run(plan, folder.write("t.db", std::string(5000, 'x'))); }).find("not a database"),
            std::string::npos);
  EXPECT_NE(message_of([&] { run(plan, folder.path("no/a.db")); }).find("cannot be opened"), std::string::npos);
  // A crashed row is tried anew.
  change_rows(path, "mas", [](SqlRow& row) { row[column_index("status")] = std::string(kCrashed); });
  EXPECT_EQ(run(plan, path).done, 1U);
}

}  // namespace
}  // namespace attnvp::explore
