// Property test of whole jobs: a case runs with and without tensors, and ends or is refused.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string>

#include "platform/schedule/counter.h"
#include "platform/schedule/demand.h"
#include "tests/platform/runs.h"
#include "tests/support/tuned.h"

namespace attnvp::runs {

struct Case {
  MachineConfig machine;
  workload::Attention network;
  job::Schedule schedule;
  bool decodes = false;

  std::string text() const {
    std::string tiles;
    for (const auto& [key, value] : job::tiling_text(schedule.tiling)) tiles += fmt::format(",{}={}", key, value);
    const workload::Attention& n = network;
    return fmt::format("--dataflow {} --net B={},H={},HKV={},NQ={},NKV={},E={}{} --tiling {}\n{}\n{}", schedule.text,
                       n.batch, n.heads, n.heads_of_kv(), n.seq_q, n.seq_kv, n.emb, n.rules(), tiles, n.identity(),
                       config::to_yaml(machine));
  }
};

struct Attempt {
  bool done = false;
  std::string refusal;
  job::RunResult result;
};

inline Attempt attempt(const Case& c, bool full, const job::Tensors* tensors) {
  runs::Runner runner(c.machine, config::load_energy("fusemax-45nm"), full);
  Attempt a;
  try {
    a.result = runner.run(c.network, c.schedule, tensors, {});
    a.done = true;
  } catch (const std::runtime_error& e) {
    a.refusal = e.what();
  }
  return a;
}

inline bool is_clean_refusal(const std::string& sentence) {
  const auto whats = {"too small", "it cannot do with ", "partial results need"};
  return std::any_of(whats.begin(), whats.end(),
                     [&](const char* what) { return sentence.find(what) != std::string::npos; });
}

// The counts from commands equal the simulation's, and no bound exceeds it. DRAM counts an odd last byte as a word.
inline void expect_counted(const Case& c, const job::RunResult& r) {
  const schedule::Job made = job::make_job(c.machine, c.network, r.schedule);
  const schedule::Counts counts = schedule::count(made, c.machine);
  EXPECT_EQ(counts.mac.macs, r.sum("mac", "macs"));
  EXPECT_EQ((counts.dram.read + 1) / 2, r.sum("dram", "read_words"));
  EXPECT_EQ((counts.dram.written + 1) / 2, r.sum("dram", "write_words"));
  EXPECT_EQ(counts.l1_peak_bytes, r.max("l1", "peak_bytes"));
  EXPECT_EQ(counts.refused, 0U);
  EXPECT_LE(schedule::least_cycles(made, c.machine), static_cast<double>(r.cycles));
  EXPECT_LE(schedule::quick_least_cycles(made, c.machine), schedule::least_cycles(made, c.machine));
}

// `check` receives the results of completed cases; at least one must complete.
inline void hold_for_random_jobs(int shard, int cases, Case (*random_case)(std::uint32_t),
                                 void (*check)(const Case&, const job::RunResult&)) {
  int fit = 0;
  for (int number = shard * cases; number < (shard + 1) * cases; ++number) {
    const Case c = random_case(static_cast<std::uint32_t>(number));
    SCOPED_TRACE(fmt::format("case {}: {}", number, c.text()));
    const job::Tensors tensors = job::random_tensors(c.network, 7);
    const Attempt full = attempt(c, true, &tensors);
    Case again = c;  // tiles do not depend on data: use the same ones
    if (full.done) again.schedule = full.result.schedule;
    const Attempt timing = attempt(again, false, nullptr);
    EXPECT_EQ(full.done, timing.done);
    EXPECT_EQ(full.refusal, timing.refusal);
    if (full.done) {
      EXPECT_TRUE(full.result.golden.passed) << full.result.golden.to_string();
      check(c, full.result);
      if (timing.done) expect_same_counts(full.result, timing.result);
      ++fit;
    } else {
      EXPECT_TRUE(is_clean_refusal(full.refusal)) << full.refusal;
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GE(fit, 1) << "no case fits its machine";
}

}  // namespace attnvp::runs
