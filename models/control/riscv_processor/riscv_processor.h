// Control processor of kind `riscv`: a RISC-V hart with its own clock in SystemC time. It runs ahead of the platform by
// at most one quantum, and not at all if this would change results.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <memory>

#include "models/control/config.h"
#include "models/control/processor.h"
#include "models/control/riscv/control_core.h"

namespace attnvp {

class RiscvProcessor : public Processor, private riscv::CorePort {
 public:
  RiscvProcessor(sc_core::sc_module_name name, const ModuleContext& module_context);

  tlm::tlm_initiator_socket<>& bus() override { return bus_; }
  void start() override;
  bool finished() const override { return finished_; }
  std::uint64_t finish_cycle() const override { return finish_cycle_; }
  std::string waiting_for() const override;
  void listen(EventUnit& events) override;
  riscv::ControlCore& core() { return core_; }
  const std::shared_ptr<const riscv::ElfFile>& program() const { return program_; }
  // Converts a cycle of the hart to cycles of the platform since the start.
  std::uint64_t platform_cycle(std::uint64_t cycle) const {
    return cycle * hart_clock_.period_fs() / ctx_.clock.period_fs();
  }

  Counter accesses{*this, "accesses", "accesses", "bus accesses"};
  Counter busy_cycles{*this, "busy_cycles", "cycles",
                      "cycles in which it executes, or is on the bus; stalls not counted"};
  Counter instructions{*this, "instructions", "instructions", "instructions retired"};
  Counter alu_instructions{*this,
                           "alu_instructions",
                           "instructions",
                           "of these, additions, shifts, comparisons and the like",
                           {"attnvp.control", "alu", true}};
  Counter multiplies{
      *this, "multiplies", "instructions", "of these, multiplications", {"attnvp.control", "multiply", true}};
  Counter divides{
      *this, "divides", "instructions", "of these, divisions and remainders", {"attnvp.control", "divide", true}};
  Counter loads{*this, "loads", "instructions", "of these, loads", {"attnvp.control", "load", true}};
  Counter stores{*this, "stores", "instructions", "of these, stores", {"attnvp.control", "store", true}};
  Counter branches{
      *this, "branches", "instructions", "of these, branches and jumps", {"attnvp.control", "branch", true}};
  Counter system_instructions{*this,
                              "system_instructions",
                              "instructions",
                              "of these, CSR accesses, fences, wfi and mret",
                              {"attnvp.control", "system", true}};
  Counter bus_bytes{*this, "bus_bytes", "bytes", "that crossed its bus", {"attnvp.control", "bus_byte", true}};
  Counter doorbells{*this, "doorbells", "commands", "commands put into queues"};
  Counter hart_cycles{*this, "hart_cycles", "cycles", "cycles of its own clock"};
  Counter hart_stalls{*this, "hart_stalls", "cycles", "of these, in which it waited for the bus"};

 private:
  tlm_utils::simple_initiator_socket<RiscvProcessor> bus_{"bus"};
  void run();
  void show(std::uint64_t state, const sc_core::sc_time& ahead = sc_core::SC_ZERO_TIME);
  void execute();
  bool transfer(bool write, std::uint64_t address, void* data, std::uint32_t bytes, std::uint64_t& cycle) override;
  bool push(std::uint64_t queue, void* descriptor, std::uint32_t bytes, std::uint64_t& cycle) override;
  void console(char c, std::uint64_t cycle) override;
  bool watch(std::uint32_t event) override;
  // Converts hart cycles to absolute time in femtoseconds, and time to the first hart cycle that is not earlier.
  std::uint64_t time_of(std::uint64_t cycle) const { return start_fs_ + cycle * hart_clock_.period_fs(); }
  std::uint64_t cycle_at(std::uint64_t fs) const {
    return (fs - start_fs_ + hart_clock_.period_fs() - 1) / hart_clock_.period_fs();
  }
  void wait_until(std::uint64_t cycle);
  bool external() const;  // level of the external interrupt line
  void sleep();

  ControlConfig config_;
  RiscvConfig own_;
  Partition partition_;    // partition of its firmware,
  std::uint32_t cluster_;  // and number of its cluster in it
  bool in_step_;
  Clock hart_clock_;
  std::shared_ptr<const riscv::ElfFile> program_;
  riscv::ControlCore core_;
  bool finished_ = true;
  std::uint64_t finish_cycle_ = 0, start_fs_ = 0;
  std::uint64_t current_address_ = 0;
  bool asleep_ = false;
  EventUnit* events_ = nullptr;
  std::uint32_t watched_ = 0;  // 1 + event number; 0: none
  std::uint64_t bus_cycles_ = 0;
  std::string line_;  // current line of the console
  sim::Condition start_{ctx_.event_queue}, wake_{ctx_.event_queue};
  tlm::tlm_generic_payload payload_;
  Signal running_{*this, "running", 1};
  Signal state_;
  Signal pc_{*this, "pc", 32};
  Signal address_{*this, "address", 48};
};

}  // namespace attnvp
