// What every MAC and VEC engine is, whatever its kind: commands come to its control socket (firmware/hal/registers.h
// has the registers, firmware/hal/descriptor.h the commands), operands and results cross the ports of L1 and L0, events
// are taken and given over the network.
#pragma once

#include "models/bus/stream.h"
#include "models/bus/transport.h"
#include "models/module.h"
#include "models/place.h"

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
