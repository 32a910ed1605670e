// Control processor of kind `native`: runs firmware that is compiled into this program, in a SystemC thread. All
// effects on the machine pass its bus socket; each access costs bus cycles.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include "models/control/control_processor/cpu.h"
#include "models/control/control_processor/steady_state.h"
#include "models/control/processor.h"

namespace attnvp {

struct LaunchConfig {
  double seconds = 0, block_seconds = 0;

  static void describe(config::Keys<LaunchConfig>& key) {
    using namespace config;
    key(number("launch", KeyUnit::kTime, 0, 1, "before a job's firmware begins: what launching a kernel takes"),
        &LaunchConfig::seconds);
    key(number("block_launch", KeyUnit::kTime, 0, 1,
               "to hand out a thread block or a step, where a dataflow takes its work so (grid=blocks, grid=steps)"),
        &LaunchConfig::block_seconds);
  }
};

class ControlProcessor : public Processor, private hal::Cpu, private SteadyState::ProcessorBus {
 public:
  ControlProcessor(sc_core::sc_module_name name, const ModuleContext& module_context);

  tlm::tlm_initiator_socket<>& bus() override { return bus_; }
  void start() override;
  bool finished() const override { return finished_; }
  std::uint64_t finish_cycle() const override { return finish_cycle_; }
  std::string waiting_for() const override;
  bool visit_state(sim::StateVisitor& visitor) override;

  Counter accesses{*this, "accesses", "accesses", "bus accesses", {"attnvp.control", "access", true}};
  Counter busy_cycles{*this, "busy_cycles", "cycles", "cycles spent on bus accesses, stalls not counted"};

 private:
  tlm_utils::simple_initiator_socket<ControlProcessor> bus_{"bus"};
  void run();
  void show(std::uint64_t state);
  bool read(std::uint64_t address, void* data, std::size_t bytes) override {
    return access({false, address, data, bytes});
  }
  bool write(std::uint64_t address, const void* data, std::size_t bytes) override {
    return access({true, address, const_cast<void*>(data), bytes});
  }
  bool access(const SteadyState::FirmwareAccess& access) {
    return ctx_.steady_state != nullptr ? ctx_.steady_state->access(access, *this) : perform(access);
  }
  bool perform(const SteadyState::FirmwareAccess& access) override;
  std::uint64_t dispatch_cycles(const void* data, std::size_t bytes) const;

  ControlConfig config_;
  std::uint64_t launch_cycles_, block_cycles_;
  Partition partition_;    // partition of its firmware,
  std::uint32_t cluster_;  // and number of its cluster in it
  bool in_step_;           // synchronised with other processors: accesses of equal times keep their order
  Firmware firmware_;
  bool finished_ = true;
  std::uint64_t finish_cycle_ = 0;
  std::uint64_t end_fs_ = UINT64_MAX;  // time from which on accesses are refused
  std::uint64_t current_address_ = 0;  // of the current access; 0: none
  sc_core::sc_time local_;             // run-ahead of firmware; accesses without visible effect do not wait
  sim::Condition start_{ctx_.event_queue};
  tlm::tlm_generic_payload payload_;
  Signal running_{*this, "running", 1};
  Signal state_;
  Signal address_{*this, "address", 48};
};

}  // namespace attnvp
