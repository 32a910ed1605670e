// One layer with the model and with the RTL of the VEC engines.
#pragma once

#include "tests/platform/runs.h"
#include "tests/support/tuned.h"

namespace attnvp::runs {

inline job::RunResult run_vec(const std::string& name, const std::string& dataflow, const std::string& kind, bool full,
                              const std::string& hardware = "edge") {
  MachineConfig machine = config::load_hardware(hardware);
  const workload::Attention network = workload::load(name).attention();
  const job::Schedule schedule = complete(machine, network, job::parse_dataflow(dataflow));
  machine.vec.kind = kind;
  const job::Tensors tensors = full ? job::random_tensors(network, 1) : job::Tensors();
  job::Runner runner(machine, config::load_energy(machine.energy), full);
  return runner.run(network, schedule, full ? &tensors : nullptr, {});
}

inline void expect_rtl_is_model(const std::string& name, const std::string& dataflow,
                                const std::string& hardware = "edge") {
  const job::RunResult model = run_vec(name, dataflow, "model", true, hardware);
  const job::RunResult rtl = run_vec(name, dataflow, "rtl", true, hardware);
  EXPECT_TRUE(rtl.golden_checked && rtl.golden.passed) << rtl.golden.to_string();
  EXPECT_TRUE(rtl.output == model.output);
  EXPECT_NEAR(static_cast<double>(rtl.cycles), static_cast<double>(model.cycles),
              0.01 * static_cast<double>(model.cycles));
  EXPECT_GE(rtl.cycles, model.cycles);
  // The RTL processed every element of C.
  EXPECT_GE(8 * rtl.sum("rtl", "clocked_cycles"), rtl.sum("vec", "elements"));
  EXPECT_EQ(rtl.sum("l1", "read_words"), model.sum("l1", "read_words"));
  EXPECT_DOUBLE_EQ(rtl.total_energy_pj(), model.total_energy_pj());
}

}  // namespace attnvp::runs
