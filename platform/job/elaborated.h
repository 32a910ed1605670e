// A platform for as long as this lives, in a simulation of its own. Of several in a process the last one that was made
// is the one that runs, until it is gone.
#pragma once

#include <memory>
#include <vector>

#include "models/machine.h"
#include "models/partition.h"
#include "models/storage/host_memory.h"

namespace sc_core {
class sc_simcontext;
}
namespace attnvp {
class Platform;
}

namespace attnvp::job {

class Elaborated {
 public:
  // `partitions`: of each cluster, where not all of them have one job. Throws host_memory::Exceeded.
  Elaborated(const MachineConfig& machine, bool full_data, std::vector<Partition> partitions = {});
  ~Elaborated();
  Elaborated(const Elaborated&) = delete;
  Elaborated& operator=(const Elaborated&) = delete;
  Platform& platform() { return *platform_; }

 private:
  host_memory::Share share_;
  // The one that SystemC's objects belong to from here on.
  class Simulation {
   public:
    Simulation();
    ~Simulation();
    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;

   private:
    sc_core::sc_simcontext* outer_;
    std::unique_ptr<sc_core::sc_simcontext> own_;
  } simulation_;
  std::unique_ptr<Platform> platform_;
};

}  // namespace attnvp::job
