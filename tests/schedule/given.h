// A job of a test: changed keys of machine edge, network, dataflow and tiles.
#pragma once

#include <string>
#include <vector>

#include "platform/machine/energy.h"
#include "platform/machine/hardware.h"
#include "platform/run/job.h"
#include "tests/support/tuned.h"

namespace attnvp {

struct Given {
  std::vector<std::string> keys;
  const char *network, *dataflow, *tiling;

  MachineConfig machine() const { return config::load_hardware("edge", keys); }
  workload::Workload layer() const { return workload::load(network); }
  job::Schedule open() const { return job::parse_dataflow(dataflow); }
  // Open parameters are tuned.
  job::Schedule schedule() const {
    job::Schedule schedule = open();
    schedule.tiling = job::parse_tiling(tiling);
    return runs::complete(machine(), layer(), schedule);
  }
  double simulated(const job::Schedule& schedule) const {  // cycles
    const MachineConfig m = machine();
    runs::Runner runner(m, config::load_energy(m.energy), false);
    return static_cast<double>(runner.run(layer(), schedule, nullptr, {}).cycles);
  }
};

}  // namespace attnvp
