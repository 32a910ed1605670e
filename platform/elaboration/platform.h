// One machine, elaborated: control + DRAM + interconnect + clusters, built from a MachineConfig alone. What stands in a
// place of it is made by the kind that the machine names (models/registry.h) and known here by its role.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "firmware/hal/job.h"
#include "models/bus/lt_adaptor.h"
#include "models/bus/protocol_checker.h"
#include "models/dma_controller/dma_controller.h"
#include "models/engine/engine.h"
#include "models/event_unit/event_unit.h"
#include "models/interconnect/interconnect.h"
#include "models/machine.h"
#include "models/memory.h"
#include "models/module.h"
#include "models/processor.h"

namespace attnvp {

// The sockets that initiators are bound to.
class Bindings {
 public:
  Bindings(Context& context, const MachineConfig& machine);
  // The target itself, or what stands before it: an LT adaptor where it is not approximately timed, and a protocol
  // checker where the machine asks for one.
  tlm::tlm_target_socket<>& to(tlm::tlm_target_socket<>& target, bool is_approximately_timed = true);

 private:
  Context& context_;
  bool are_checked_;
  std::vector<std::unique_ptr<LtAdaptor>> adaptors_;
  std::vector<std::unique_ptr<ProtocolChecker>> checkers_;
};

// MAC engine, VEC engine, L0.
class Core : public sc_core::sc_module {
 public:
  Core(sc_core::sc_module_name name, Context& context, const MachineConfig& machine, std::uint32_t cluster,
       std::uint32_t core);
  std::unique_ptr<Memory> l0;
  std::unique_ptr<Engine> mac, vec;
};

// L1, DMA controller, event unit, control processor, cores.
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
  // Into SystemC's current simulation, which has one module tree (job/elaborated.h). `partitions`: of each cluster,
  // where not all of them have one job.
  Platform(sc_core::sc_module_name name, const MachineConfig& machine, bool full_data, const Firmware& firmware,
           std::vector<Partition> partitions = {});

  const MachineConfig& machine() const { return machine_; }
  Context& context() { return context_; }
  const AddressMap& map() const { return bus->map(); }
  static std::string processor_name(std::uint32_t cluster);  // as an initiator of the interconnect
  static std::string dma_name(std::uint32_t cluster);        // likewise

  // Back door for the host: bytes of a memory or the mailbox, without time.
  void write(std::uint64_t address, const void* data, std::size_t bytes);
  void read(std::uint64_t address, void* data, std::size_t bytes);

  // Resets counters and state, boots every cluster and runs until nothing happens any more.
  // Cycles from boot to the last cluster's end; meaningful if all_finished().
  std::uint64_t run();
  std::uint64_t run(const std::vector<std::uint32_t>& clusters);  // boots these only
  // Of a cluster that was booted: cycles from the latest boot to its end.
  std::uint64_t cycles_of(std::uint32_t cluster) const {
    return std::max(clusters[cluster]->cpu->finish_cycle(), start_) - start_;
  }
  bool all_finished() const;
  // All of them, parents first, in construction order.
  const std::vector<Module*>& modules() const { return modules_; }
  // One clause for every module that still waits for something.
  std::vector<std::string> waiting() const;

 private:
  void simulate();
  void simulate_endless();
  void stop_by(const Module* module, const std::string& what);
  Context context_;
  MachineConfig machine_;
  std::uint64_t start_ = 0;  // cycle of the latest boot
  std::vector<Module*> modules_;
  std::vector<Module*> foreign_;  // of them, with events of their own (models/endless.h)
  bool is_endless_ = false;       // something never rests
  Bindings bindings_{context_, machine_};

 public:
  std::unique_ptr<Interconnect> bus;
  std::unique_ptr<Memory> mailbox;
  std::unique_ptr<Memory> dram;
  std::unique_ptr<Memory> l2;  // where there is one
  std::vector<std::unique_ptr<Cluster>> clusters;

 private:
  tlm_utils::simple_initiator_socket<Platform> host_{"host"};
};

// The address map of a machine, without building it.
AddressMap address_map(const MachineConfig& machine);

}  // namespace attnvp
