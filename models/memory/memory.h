// Interface of all memory modules: DRAM, L2, L1, L0.
#pragma once

#include <stdexcept>
#include <tlm>

#include "models/interconnect/bus/stream.h"
#include "models/sim/module.h"
#include "models/slot.h"

namespace attnvp {

class Memory : public Module {
 public:
  using Module::Module;
  // TLM-2.0 target socket number `initiator`, of ModuleContext::initiators. L1 has one for the DMA controller and one
  // for the interconnect. DRAM and L2 have one, for the interconnect. L0 has none.
  virtual tlm::tlm_target_socket<>& in(std::uint32_t /*initiator*/) {
    throw std::logic_error("a memory without sockets of the base protocol");
  }
  // Stream socket number `engine`, of ModuleContext::engines. L1 has two per core (MAC, VEC). L0 has two: MAC engine,
  // VEC engine.
  virtual StreamTargetSocket& stream(std::uint32_t /*engine*/) { throw std::logic_error("a memory without streams"); }
  // Register socket on the control network; nullptr: no registers.
  virtual tlm::tlm_target_socket<>* control() { return nullptr; }
};

}  // namespace attnvp
