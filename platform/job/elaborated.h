// A platform for as long as this lives, in a simulation of its own. There may be several in a process. SystemC knows
// one current simulation: the latest one that lives, or the one of an Elaborated::Current.
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

  // During its life the simulation of that platform is SystemC's current one, in which it can run.
  class Current {
   public:
    explicit Current(Elaborated& elaborated);
    ~Current();
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

   private:
    sc_core::sc_simcontext* before_;
  };

 private:
  host_memory::Share share_;
  class Simulation {
   public:
    Simulation();
    ~Simulation();
    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;
    sc_core::sc_simcontext* context() { return own_.get(); }

   private:
    std::unique_ptr<sc_core::sc_simcontext> own_;
  } simulation_;
  std::unique_ptr<Platform> platform_;
};

}  // namespace attnvp::job
