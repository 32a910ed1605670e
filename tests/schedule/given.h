// A job as a test states it: keys of edge that are changed, a network, a dataflow, its tiles.
#pragma once

#include <string>
#include <vector>

#include "platform/config/energy.h"
#include "platform/config/hardware.h"
#include "platform/job/job.h"
#include "tests/support/tuned.h"

namespace attnvp {

struct Given {
  std::vector<std::string> keys;
  const char *network, *dataflow, *tiling;

  MachineConfig machine() const { return config::load_hardware("edge", keys); }
  config::Network layer() const { return config::load_network(network); }
  job::Schedule open() const { return job::parse_dataflow(dataflow); }
  // With what is left open of the tiling chosen.
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
