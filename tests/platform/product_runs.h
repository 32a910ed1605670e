// Runs of a matrix product with given tiles, and what holds for every one of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "platform/run/operations.h"
#include "platform/schedule/check/checker.h"
#include "platform/schedule/counter.h"
#include "platform/schedule/demand.h"
#include "tests/platform/product_count.h"
#include "tests/platform/runs.h"
#include "tests/support/tuned.h"

namespace attnvp::runs {

// `tensors` null: timing only.
inline job::RunResult run(const MachineConfig& machine, const workload::Workload& n, const std::string& dataflow,
                          const job::Tiling& tiling, const job::Tensors* tensors) {
  runs::Runner runner(machine, config::load_energy("fusemax-45nm"), tensors != nullptr);
  job::Schedule schedule = job::parse_dataflow(dataflow);
  schedule.tiling = tiling;
  return runner.run(n, schedule, tensors, {});
}

// Expects golden values, counts by hand, bounds and no findings of the checker; the same counts without data, and the
// same traffic for packed matrices, without a cache. Returns the run with data.
inline job::RunResult expect_right_product(const MachineConfig& machine, const workload::Gemm& n,
                                           const job::Tiling& tiling, std::uint32_t seed) {
  const job::Tensors tensors = job::random_tensors(n, seed);
  job::RunResult full = run(machine, n, "gemm", tiling, &tensors);
  EXPECT_TRUE(full.golden_checked);
  EXPECT_TRUE(full.golden.passed) << full.golden.to_string();
  EXPECT_EQ(full.output.size(), std::uint64_t{n.rows} * n.result_columns());
  EXPECT_EQ(full.sum("dram", "read_words"), (bytes_read(n, tiling, machine) + 1) / 2);  // whole words
  const std::uint64_t written = full.output.size() * hal::element_bytes(n.out());
  EXPECT_EQ(full.sum("dram", "write_words"), (written + 1) / 2);
  EXPECT_EQ(full.sum("mac", "macs"), std::uint64_t{n.rows} * (std::uint64_t{n.columns} * n.depth +
                                                              std::uint64_t{n.fusion.down} * n.first_columns()));
  EXPECT_LE(full.max("l1", "peak_bytes"), machine.l1.size_bytes);
  const schedule::Job made = job::make_job(machine, n, full.schedule);
  EXPECT_GE(static_cast<double>(full.cycles), schedule::least_cycles(made, machine));
  EXPECT_GE(schedule::least_cycles(made, machine), schedule::quick_least_cycles(made, machine));
  EXPECT_GE(schedule::quick_least_cycles(made, machine), schedule::layer_demand(made, machine).cycles());
  for (const schedule::check::Finding& f : schedule::check::check(made, machine, {0}).findings) {
    ADD_FAILURE() << to_text(f);
  }
  expect_same_counts(full, run(machine, n, "gemm", tiling, nullptr));
  if (n.fusion.append.any()) return full;
  const job::RunResult packed = run(machine, n, "gemm-panels", tiling, nullptr);
  EXPECT_EQ(packed.sum("dram", "read_words"), full.sum("dram", "read_words"));
  EXPECT_EQ(packed.sum("dram", "write_words"), full.sum("dram", "write_words"));
  return full;
}

}  // namespace attnvp::runs
