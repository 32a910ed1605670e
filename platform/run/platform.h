// An elaborated machine: control, DRAM, interconnect and clusters, built from a MachineConfig. The registry creates
// modules by the kind that the machine names (models/registry.h); the platform uses them by role.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "firmware/hal/job.h"
#include "models/control/control_processor/steady_state.h"
#include "models/control/event_unit/event_unit.h"
#include "models/control/processor.h"
#include "models/engine/dma_controller/dma_controller.h"
#include "models/engine/engine.h"
#include "models/interconnect/address_map.h"
#include "models/interconnect/bus/protocol_checker.h"
#include "models/interconnect/bus/transport.h"
#include "models/interconnect/interconnect.h"
#include "models/machine.h"
#include "models/memory/memory.h"
#include "models/memory/storage/host_memory.h"
#include "models/sim/module.h"

namespace attnvp {

// Target sockets for initiators, with adaptors inserted.
class Bindings {
 public:
  Bindings(Context& context, const MachineConfig& machine);
  // Returns the target itself, or the adaptor before it: an LT adaptor if it is not approximately timed, and a protocol
  // checker if the machine asks for one.
  tlm::tlm_target_socket<>& to(tlm::tlm_target_socket<>& target, bool is_approximately_timed = true);

 private:
  Context& context_;
  bool are_checked_;
  std::vector<std::unique_ptr<LtAdaptor>> adaptors_;
  std::vector<std::unique_ptr<ProtocolChecker>> checkers_;
};

class Core : public sc_core::sc_module {
 public:
  Core(sc_core::sc_module_name name, Context& context, const MachineConfig& machine, std::uint32_t cluster,
       std::uint32_t core);
  std::unique_ptr<Memory> l0;
  std::unique_ptr<Engine> mac, vec;
};

class Cluster : public sc_core::sc_module {
 public:
  Cluster(sc_core::sc_module_name name, Context& context, const MachineConfig& machine, std::uint32_t cluster,
          Interconnect& bus, const Firmware& firmware);
  std::unique_ptr<Memory> l1;
  std::unique_ptr<EventUnit> events;
  std::unique_ptr<DmaController> dma;
  std::unique_ptr<Processor> cpu;
  std::vector<std::unique_ptr<Core>> cores;

 private:
  Bindings bindings_;
};

class Platform : public sc_core::sc_module {
 public:
  // Elaborates in SystemC's current context, which has one module tree (Elaborated). `partitions`: of each
  // cluster, if clusters run different jobs.
  Platform(sc_core::sc_module_name name, const MachineConfig& machine, bool full_data, const Firmware& firmware,
           std::vector<Partition> partitions = {});
  ~Platform() override;

  const MachineConfig& machine() const { return machine_; }
  Context& context() { return context_; }
  const AddressMap& map() const { return bus->map(); }
  static std::string processor_name(std::uint32_t cluster);  // initiator name at the interconnect
  static std::string dma_name(std::uint32_t cluster);        // initiator name at the interconnect

  // Debug access of the host to a memory or the mailbox, without time.
  void write(std::uint64_t address, const void* data, std::size_t bytes);
  void read(std::uint64_t address, void* data, std::size_t bytes);

  // Resets counters and state, boots every cluster and runs until no events are left. Returns cycles from boot to the
  // last cluster's end, valid if all_finished().
  std::uint64_t run();
  std::uint64_t run(const std::vector<std::uint32_t>& clusters);  // boots only these
  // For a booted cluster: cycles from the latest boot to its end.
  std::uint64_t cycles_of(std::uint32_t cluster) const {
    return std::max(clusters[cluster]->cpu->finish_cycle(), start_) - start_;
  }
  bool all_finished() const;
  // Parents first, in construction order.
  const std::vector<Module*>& modules() const { return modules_; }
  // One clause for every module that is waiting.
  std::vector<std::string> waiting() const;

 private:
  void simulate();
  void simulate_endless();
  void stop_by(const Module* module, const std::string& what);
  bool may_have_steady_state() const;
  void await_edge();
  Context context_;
  MachineConfig machine_;
  std::vector<std::unique_ptr<MachineConfig>> cluster_machines_;  // of clusters that differ
  std::uint64_t start_ = 0;                                       // cycle of the latest boot
  std::vector<Module*> modules_;
  std::unique_ptr<SteadyState> steady_state_;
  std::vector<Module*> foreign_;  // with events of their own (Endless)
  bool is_endless_ = false;       // some module always has pending events
  Bindings bindings_{context_, machine_};

 public:
  std::unique_ptr<Interconnect> bus;
  std::unique_ptr<Memory> mailbox;
  std::unique_ptr<Memory> dram;
  std::unique_ptr<Memory> l2;  // if the machine has one
  std::vector<std::unique_ptr<Cluster>> clusters;

 private:
  tlm_utils::simple_initiator_socket<Platform> host_{"host"};
};

// The address map of a machine, without elaboration.
AddressMap address_map(const MachineConfig& machine);

}  // namespace attnvp

namespace attnvp::job {

// An elaborated platform in its own SystemC simulation context. A process may hold several. SystemC's current context
// is the latest live one, or that of an Elaborated::Current.
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
