// What every memory is, whatever its kind: DRAM, L2, L1, L0.
#pragma once

#include <stdexcept>
#include <tlm>

#include "models/bus/stream.h"
#include "models/module.h"
#include "models/place.h"

namespace attnvp {

class Memory : public Module {
 public:
  using Module::Module;
  // A socket of the base protocol, of Site::initiators. Of an L1: the DMA controller's, the interconnect's; a DRAM or
  // an L2 has the interconnect's alone; an L0 has none.
  virtual tlm::tlm_target_socket<>& in(std::uint32_t /*initiator*/) {
    throw std::logic_error("a memory without sockets of the base protocol");
  }
  // An engine's socket, of Site::engines. Of an L1: two per core (MAC, VEC); of an L0: the MAC engine's, the VEC
  // engine's.
  virtual StreamTargetSocket& stream(std::uint32_t /*engine*/) { throw std::logic_error("a memory without streams"); }
  // Registers on the control network; nullptr for none.
  virtual tlm::tlm_target_socket<>* control() { return nullptr; }
};

}  // namespace attnvp
