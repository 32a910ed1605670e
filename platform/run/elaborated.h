// An elaborated platform in its own SystemC simulation context. A process may hold several. SystemC's current context
// is the latest live one, or that of an Elaborated::Current.
#pragma once

#include <memory>
#include <vector>

#include "models/interconnect/address_map.h"
#include "models/machine.h"
#include "models/memory/storage/host_memory.h"

namespace sc_core {
class sc_simcontext;
}
namespace attnvp {
class Platform;
}

namespace attnvp::job {

class Elaborated {
 public:
  // `partitions`: of each cluster, if clusters run different jobs. Throws host_memory::Exceeded.
  Elaborated(const MachineConfig& machine, bool full_data, std::vector<Partition> partitions = {});
  ~Elaborated();
  Elaborated(const Elaborated&) = delete;
  Elaborated& operator=(const Elaborated&) = delete;
  Platform& platform() { return *platform_; }

  // Makes the platform's simulation context SystemC's current one for its lifetime.
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
  host_memory::MemoryShare share_;
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
