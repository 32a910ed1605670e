// Interface of DMA controllers of all kinds, one per cluster. Commands arrive in the queues of the channels (registers:
// firmware/hal/registers.h, commands: firmware/hal/descriptor.h). Bytes move between any two memories of the address
// map. Events are taken and signalled over the network.
#pragma once

#include <tlm>

#include "models/sim/module.h"
#include "models/slot.h"

namespace attnvp {

class DmaController : public Module {
 public:
  using Module::Module;
  virtual tlm::tlm_target_socket<>& control() = 0;
  virtual tlm::tlm_initiator_socket<>& bus() = 0;  // all memories except
  virtual tlm::tlm_initiator_socket<>& l1() = 0;   // the cluster's own L1
  virtual tlm::tlm_initiator_socket<>& events(std::uint32_t channel) = 0;
};

}  // namespace attnvp
