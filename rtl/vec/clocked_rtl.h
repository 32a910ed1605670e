// Verilated block as a SystemC module. It has the platform's clock, which runs only while the block has work. At every
// edge it samples requests of earlier cycles, so that the order of processes within a cycle has no effect. Its wires
// are signals of the module for waveforms.
#pragma once

#include <memory>
#include <vector>

#include "models/sim/module.h"
#include "rtl/vec/rtl_block.h"

namespace attnvp::rtl {

class ClockedRtl : public Module {
 public:
  void reset() override { show(); }

  // Called on progress of other work, which may allow this block to continue.
  void poke() {
    if (can_go_on()) wake();
  }

  Counter clocked_cycles{*this, "clocked_cycles", "cycles", "cycles in which the RTL's clock ran"};

 protected:
  // `progress` is notified when work has progressed.
  ClockedRtl(sc_core::sc_module_name name, Context& context, std::unique_ptr<RtlBlock> block, sim::Event& progress);

  void wake();  // starts the clock with the next cycle; it runs while busy()
  void notify_progress() { progress_.notify_delta(); }
  RtlBlock& block() { return *block_; }

  // Sets the block's inputs and reads its outputs before the edge of cycle `now`.
  virtual void at_edge(std::uint64_t now) = 0;
  virtual bool busy() const = 0;
  virtual bool can_go_on() const = 0;  // has input for the next edge

 private:
  void tick();
  void show();

  std::unique_ptr<RtlBlock> block_;
  std::vector<std::unique_ptr<Signal>> wires_;
  bool running_ = false;
  bool falling_ = false;  // only while traced: the next tick is the falling edge
  sim::Event tick_;
  sim::Event& progress_;
};

}  // namespace attnvp::rtl
