// Whole runs with --vec rtl, small ones; rtl_long_test.cpp has the twelve networks.
#include <string>

#include "tests/platform/test_files.h"
#include "tests/platform/traced.h"
#include "tests/platform/waveform.h"
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

// Machines of other shapes, and of half the rate.
TEST(RtlRun, OtherMachines) {
  for (const char* hardware : {"edge-small", "edge-large", "cluster3"}) {
    for (const char* dataflow : {"mas", "flat"}) {
      SCOPED_TRACE(std::string(hardware) + " " + dataflow);
      expect_rtl_is_model("H=12,NQ=256,NKV=196,E=64", dataflow, hardware);
    }
  }
}

// One-pass softmax: its online steps go through the RTL too, at 8 elements a cycle.
TEST(RtlRun, OnlineSoftmaxGivesTheModelsOutput) {
  for (const char* dataflow : {"cascade", "cascade:binding=serial", "lean", "flash-decoding"}) {
    const std::string shape = "H=3,NQ=70,NKV=300,E=24";
    const job::RunResult model = run_vec(shape, dataflow, "model", true);
    const job::RunResult rtl = run_vec(shape, dataflow, "rtl", true);
    EXPECT_TRUE(rtl.golden_checked && rtl.golden.passed) << dataflow << ": " << rtl.golden.to_string();
    EXPECT_TRUE(rtl.output == model.output) << dataflow;
    EXPECT_GE(8 * rtl.sum("rtl", "clocked_cycles"), std::uint64_t{3} * 70 * 300) << dataflow;
    EXPECT_LT(rtl.cycles, model.cycles + model.cycles / 10) << dataflow;  // small tiles: its pipeline, for each
    expect_same_counts(rtl, run_vec(shape, dataflow, "rtl", false));
  }
}

// Runs that differ in nothing but what a VEC engine takes.
void expect_models_rows(const std::string& shape, const char* dataflow) {
  SCOPED_TRACE(dataflow + (" " + shape));
  const job::RunResult model = run_vec(shape, dataflow, "model", true), rtl = run_vec(shape, dataflow, "rtl", true);
  EXPECT_TRUE(rtl.golden_checked && rtl.golden.passed) << rtl.golden.to_string();
  EXPECT_TRUE(rtl.output == model.output);
  EXPECT_LT(rtl.cycles, model.cycles + model.cycles / 20);
  expect_same_counts(rtl, run_vec(shape, dataflow, "rtl", false));
}

// Rows of their own lengths, some that see nothing.
TEST(RtlRun, MaskedRowsAreTheModels) {
  for (const char* dataflow : {"mas", "flat", "cascade", "lean"}) {
    for (const char* mask : {",causal=1", ",causal=1,window=20,sinks=3,scale=1/sqrt(E)", ",window=30",
                             ",causal=1,prefix=40", ",valid=50", ",causal=1,alibi=1", ",causal=1,softcap=4"}) {
      expect_models_rows(std::string("H=4,HKV=2,N=90,E=24") + mask, dataflow);
    }
  }
}

// Holes in rows: a block of keys on, one off.
TEST(RtlRun, MapsOfBlocksAreTheModels) {
  const testing::TemporaryFolder folder;
  folder.write("map.txt", "block 16\n100000\n010000\n101000\n010100\n101010\n110101\n");
  for (const char* dataflow : {"mas", "flat", "cascade"}) {
    expect_models_rows("H=4,HKV=2,N=90,E=24,block_mask=map.txt", dataflow);
  }
}

// The RTL's control does not look at numbers, so that zeros take as long.
TEST(RtlRun, TimingIsFull) {
  for (const char* dataflow : {"mas", "flat"}) {
    const std::string shape = "H=2,NQ=70,NKV=150,E=24";
    const job::RunResult full = run_vec(shape, dataflow, "rtl", true);
    const job::RunResult timing = run_vec(shape, dataflow, "rtl", false);
    expect_same_counts(full, timing);
  }
}

// The RTL's wires are in the run's waveform, on its time axis, and tracing costs no cycle.
TEST(RtlRun, WaveformShowsTheRtl) {
  Options options;
  options.network = "H=2,N=32,E=16";
  options.vec = "rtl";
  const Traced traced = trace(options);
  EXPECT_EQ(traced.result.cycles, run_vec(options.network, "mas", "rtl", false).cycles);
  const Waveform wave = parse_vcd(traced.text);
  ASSERT_FALSE(HasFatalFailure());
  const std::uint64_t period = period_of(traced.result);
  std::uint64_t rows = 0;
  for (const std::string core : {"core0", "core1"}) {
    const std::string vec = "attnvp.cluster0." + core + ".vec";
    const Variable &clk = wave.of(vec + ".rtl.clk"), &taken = wave.of(vec + ".rtl.row_taken"),
                   &state = wave.of(vec + ".state");
    std::uint64_t edges = 0;
    for (const auto& [time, value] : clk.changes) {
      if (value != "1") continue;
      ++edges;
      EXPECT_EQ(time % period, 0U);
      // What the edge saw: the values before it. The model's state beside it: rows are read while the engine works.
      if (taken.at(time - 1) != "1") continue;
      ++rows;
      EXPECT_NE(wave.name(state.at(time - 1)), "idle") << time;
    }
    EXPECT_EQ(edges, counter(traced.result, vec + ".rtl", "clocked_cycles"));
    EXPECT_EQ(number(wave.of(vec + ".rtl.cmd_length").changes.back().second), 32U);
    EXPECT_NE(wave.find(vec + ".rtl.softmax.sum_pass.sum"), nullptr);
    EXPECT_EQ(wave.find(vec + ".linear.clk"), nullptr) << "it has not worked";
    EXPECT_NE(traced.gtkw.find(vec + ".rtl.row_taken"), std::string::npos);
  }
  EXPECT_EQ(rows, 2U * 32);
}

// A memory's word has its range behind its index, by which viewers tell the one from the other.
TEST(RtlRun, WaveformDeclaresTheRangeOfAMemorysWord) {
  Options options;
  options.network = "H=2,N=64,E=32";
  options.vec = "rtl";
  const Traced traced = trace(options);
  const Waveform wave = parse_vcd(traced.text);
  ASSERT_FALSE(HasFatalFailure());
  std::size_t words = 0;
  for (const auto& [code, v] : wave.by_code) words += v.path.back() == ']' && v.bits > 1 ? 1 : 0;
  EXPECT_GT(words, 0U);
  EXPECT_NE(traced.text.find(" memory[1] [61:0] $end\n"), std::string::npos);
  EXPECT_EQ(traced.text.find(" memory[1] $end\n"), std::string::npos);
}

// A scope and a window cut the RTL as everything else.
TEST(RtlRun, WaveformsScopeAndWindowHoldForTheRtl) {
  Options options;
  options.network = "H=2,N=32,E=16";
  options.vec = "rtl";
  const Traced all = trace(options);
  const Waveform whole = parse_vcd(all.text);
  const std::string clk = "attnvp.cluster0.core0.vec.rtl.clk";
  const auto& changes = whole.of(clk).changes;
  ASSERT_GT(changes.size(), 20U);
  const std::uint64_t period = period_of(all.result);
  options.scopes = {"core0.vec.rtl"};
  options.from = changes[5].first / period;
  options.to = changes[15].first / period;
  const Waveform part = parse_vcd(trace(options).text);
  ASSERT_FALSE(HasFatalFailure());
  for (const auto& [code, v] : part.by_code) {
    EXPECT_TRUE(v.path.rfind("attnvp.cluster0.core0.vec.rtl.", 0) == 0 || v.path == "attnvp.energy_pj" ||
                v.path == "attnvp.power_w" || v.path == "attnvp.cycle")
        << v.path;
  }
  const Variable& cut = part.of(clk);
  EXPECT_GT(cut.changes.size(), 5U);
  for (const auto& [time, value] : cut.changes) {
    EXPECT_LE(time, options.to * period);
    EXPECT_EQ(value, whole.of(clk).at(time)) << time;
  }
}

TEST(RtlRun, SinksAreRefused) {
  for (const auto& [dataflow, operation] : {std::pair{"mas", "softmax"}, {"cascade", "divide"}}) {
    try {
      run_vec("H=2,N=32,E=16,sink=1", dataflow, "rtl", false);
      ADD_FAILURE() << dataflow;
    } catch (const std::runtime_error& e) {
      const std::string sentence = std::string("the RTL of VEC has no sinks, which this ") + operation + " has";
      EXPECT_NE(std::string(e.what()).find(sentence), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace attnvp::runs
