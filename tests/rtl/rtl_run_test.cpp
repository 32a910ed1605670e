// Whole runs with --vec rtl, small ones; rtl_long_test.cpp has the twelve networks.
#include <set>
#include <sstream>

#include "tests/rtl/rtl_runs.h"

namespace attnvp::runs {
namespace {

TEST(RtlRun, GivesTheModelsOutputInNearlyItsCycles) {
  for (const char* dataflow : {"mas", "flat", "layerwise", "softpipe", "tileflow"}) {
    expect_rtl_is_model("H=3,NQ=128,NKV=196,E=32", dataflow);
  }
  expect_rtl_is_model("vit-b-14", "mas");
  expect_rtl_is_model("t5-mini", "flat");
}

// One-pass softmax: its online steps go through the RTL too, at 8 elements a cycle.
TEST(RtlRun, OnlineSoftmaxGivesTheModelsOutput) {
  for (const char* dataflow : {"cascade", "cascade:binding=serial", "lean", "flash-decoding"}) {
    const std::string shape = "H=3,NQ=70,NKV=300,E=24";
    const job::Result model = run_vec(shape, dataflow, VecKind::kModel, true);
    const job::Result rtl = run_vec(shape, dataflow, VecKind::kRtl, true);
    EXPECT_TRUE(rtl.golden_checked && rtl.golden.passed) << dataflow << ": " << rtl.golden.to_string();
    EXPECT_TRUE(rtl.output == model.output) << dataflow;
    EXPECT_GE(8 * rtl.sum("rtl", "clocked_cycles"), std::uint64_t{3} * 70 * 300) << dataflow;
    EXPECT_LT(rtl.cycles, model.cycles + model.cycles / 20) << dataflow;
    expect_same_counts(rtl, run_vec(shape, dataflow, VecKind::kRtl, false));
  }
}

// The RTL's control does not look at numbers, so that zeros take as long.
TEST(RtlRun, TimingIsFull) {
  for (const char* dataflow : {"mas", "flat"}) {
    const std::string shape = "H=2,NQ=70,NKV=150,E=24";
    const job::Result full = run_vec(shape, dataflow, VecKind::kRtl, true);
    const job::Result timing = run_vec(shape, dataflow, VecKind::kRtl, false);
    expect_same_counts(full, timing);
  }
}

// The RTL's own scopes and signals are in the run's waveform, on its time axis, and tracing costs no cycle.
TEST(RtlRun, WaveformShowsTheRtl) {
  MachineConfig machine = config::load_hardware("edge");
  machine.vec.kind = VecKind::kRtl;
  const config::Network network = config::load_network("H=1,N=32,E=16");
  job::Runner runner(machine, config::load_energy(machine.energy), false);
  const job::Schedule schedule = job::parse_dataflow("mas");
  std::string first, second;
  job::RunOptions options;
  const std::uint64_t untraced = runner.run(network, schedule, nullptr, {}).cycles;
  options.vcd = &first;
  EXPECT_EQ(runner.run(network, schedule, nullptr, options).cycles, untraced);
  for (const char* part : {"$scope module core0 ", "$scope module vec ", "$scope module rtl ",
                           "$scope module sum_pass ", " row_taken $end", " clk $end", " queue_level $end"}) {
    EXPECT_NE(first.find(part), std::string::npos) << part;
  }
  // Time never goes back; every change is of a declared code.
  std::set<std::string> codes;
  std::uint64_t last = 0;
  std::size_t clock_edges = 0;
  std::string clk;
  std::istringstream lines(first);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word, type, bits, code, name;
    if (line.rfind("$var", 0) == 0) {
      words >> word >> type >> bits >> code >> name;
      EXPECT_TRUE(codes.insert(code).second || code.size() > 4) << line;  // Verilator shares codes between scopes
      if (name == "clk" && clk.empty()) clk = code;
    } else if (line[0] == '#') {
      const std::uint64_t now = std::stoull(line.substr(1));
      EXPECT_GE(now, last);
      last = now;
    } else if (line[0] != '$') {
      const std::size_t space = line.find(' ');
      code = space == std::string::npos ? line.substr(1) : line.substr(space + 1);
      EXPECT_EQ(codes.count(code), 1U) << line;
      if (code == clk) ++clock_edges;
    }
  }
  EXPECT_GT(clock_edges, 2 * 32U);
}

}  // namespace
}  // namespace attnvp::runs
