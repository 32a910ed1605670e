// Jobs of machines whose cores or clusters are not alike.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "platform/workload/workload.h"
#include "tests/platform/runs.h"

namespace attnvp::runs {

// Dataflows that take such machines.
inline const std::vector<std::string> kUnequalDataflows = {
    "mas", "flat", "flat:prefetch=off", "flat:overlap=on", "fusemax", "cascade", "flash2", "flash3"};
inline const std::vector<std::string> kUnequalLayers = {"H=3,N=96,E=32",
                                                        "H=2,N=77,E=40,causal=1",
                                                        "H=5,NQ=3,NKV=129,E=16",
                                                        "H=8,HKV=2,N=61,E=32,causal=1",
                                                        "H=2,N=133,E=24,window=40",
                                                        "B=2,H=3,N=50,E=16"};

inline job::RunResult run_of(const MachineConfig& machine, const std::string& layer, const std::string& dataflow,
                             const std::string& tiling = "", bool full = true) {
  const workload::Attention network = workload::load(layer).attention();
  job::Schedule schedule = job::parse_dataflow(dataflow);
  if (!tiling.empty()) schedule.tiling = job::parse_tiling(tiling);
  const job::Tensors tensors = full ? job::random_tensors(network, 1) : job::Tensors{};
  Runner runner(machine, config::load_energy(machine.energy), full);
  return runner.run(network, schedule, full ? &tensors : nullptr);
}

}  // namespace attnvp::runs
