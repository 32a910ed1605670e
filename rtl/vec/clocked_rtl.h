// A Verilated block in the simulation. Its clock is the platform's, and runs only while there is work: an idle block
// costs nothing. At every edge it sees what was asked before that cycle, so that the order of processes within a cycle
// does not matter. Its wires are signals of the module, which a waveform of the run shows beside all others.
#pragma once

#include <memory>
#include <vector>

#include "models/module.h"
#include "rtl/vec/rtl_block.h"

namespace attnvp::rtl {

class ClockedRtl : public Module {
 public:
  void reset() override { show(); }

  // Some work has gone on: what has waited for it may begin.
  void poke() {
    if (can_go_on()) wake();
  }

  Counter clocked_cycles{*this, "clocked_cycles", "cycles", "cycles in which the RTL's clock ran"};

 protected:
  // `progress`: told when some work has gone on.
  ClockedRtl(sc_core::sc_module_name name, Context& context, std::unique_ptr<RtlBlock> block, sim::Event& progress);

  void wake();  // the clock runs from the next cycle on, while busy()
  void notify_progress() { progress_.notify_delta(); }
  RtlBlock& block() { return *block_; }

  // Sets the block's inputs and reads its outputs before the edge of cycle `now`.
  virtual void at_edge(std::uint64_t now) = 0;
  virtual bool busy() const = 0;
  virtual bool can_go_on() const = 0;  // there is something to offer at the next edge

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
