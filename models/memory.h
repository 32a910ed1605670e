// What every memory is, whatever its kind: DRAM, L2, L1, L0.
#pragma once

#include <tlm>

#include "models/module.h"
#include "models/place.h"

namespace attnvp {

class Memory : public Module {
 public:
  using Module::Module;
  // An initiator's socket, of Site::initiators. Of an L1: two per core (MAC, VEC), the DMA controller's, the
  // interconnect's; of an L0: the MAC engine's and the VEC engine's; a DRAM or an L2 has the interconnect's alone.
  virtual tlm::tlm_target_socket<>& in(std::uint32_t initiator) = 0;
  // Registers on the control network; nullptr for none.
  virtual tlm::tlm_target_socket<>* control() { return nullptr; }
  // That an access by an initiator that knows Completions, or one without a delay, never waits within b_transport. For
  // one that may wait there is a process (models/bus/bridge.h).
  virtual bool never_waits() const { return false; }
};

}  // namespace attnvp
