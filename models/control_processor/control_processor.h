// The control processor, `native`: firmware compiled into this program, run in a SystemC thread. Everything it does to
// the machine goes over its bus socket, and every access costs bus cycles.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <functional>

#include "models/control_processor/cpu.h"
#include "models/machine.h"
#include "models/module.h"

namespace attnvp {

class ControlProcessor : public Module, private hal::Cpu {
 public:
  using Firmware = std::function<void(hal::Cpu&, std::uint32_t cluster)>;
  ControlProcessor(sc_core::sc_module_name name, Context& context, const ControlConfig& config, std::uint32_t cluster,
                   Firmware firmware);

  tlm_utils::simple_initiator_socket<ControlProcessor> bus{"bus"};

  // Boots the firmware at the current time; finished() once it has returned.
  void start();
  bool finished() const { return finished_; }
  std::uint64_t finish_cycle() const { return finish_cycle_; }
  std::string waiting_for() const override;

  Counter accesses{*this, "accesses", "accesses", "bus accesses"};
  Counter busy_cycles{*this, "busy_cycles", "cycles", "cycles spent on bus accesses, stalls not counted"};

 private:
  void run();
  bool read(std::uint64_t address, void* data, std::size_t bytes) override { return access(false, address, data, bytes); }
  bool write(std::uint64_t address, const void* data, std::size_t bytes) override {
    return access(true, address, const_cast<void*>(data), bytes);
  }
  bool access(bool write, std::uint64_t address, void* data, std::size_t bytes);

  ControlConfig config_;
  std::uint32_t cluster_;
  Firmware firmware_;
  bool finished_ = true;
  std::uint64_t finish_cycle_ = 0;
  std::uint64_t current_address_ = 0;  // of the access under way, 0 between accesses
  sc_core::sc_event start_;
  tlm::tlm_generic_payload payload_;
  Signal running_{*this, "running", 1};
  Signal state_;
  Signal address_{*this, "address", 48};
};

}  // namespace attnvp
