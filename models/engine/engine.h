// Interface of MAC and VEC engines of all kinds. Commands arrive at the control socket (registers:
// firmware/hal/registers.h, commands: firmware/hal/descriptor.h). Operands and results pass the stream ports of L1 and
// L0. Events are taken and signalled over the network.
#pragma once

#include "models/interconnect/bus/stream.h"
#include "models/interconnect/bus/transport.h"
#include "models/sim/module.h"
#include "models/slot.h"

namespace attnvp {

class Engine : public Module {
 public:
  using Module::Module;
  virtual tlm::tlm_target_socket<>& control() = 0;
  virtual StreamInitiatorSocket& l1() = 0;
  virtual StreamInitiatorSocket& l0() = 0;
  virtual tlm::tlm_initiator_socket<>& events() = 0;  // to the network
};

}  // namespace attnvp
