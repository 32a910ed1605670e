// What every DMA controller is, whatever its kind: commands come to its channels' queues (firmware/hal/registers.h has
// the registers, firmware/hal/descriptor.h the commands), bytes move between any two memories of the address map,
// events are taken and given over the network. One per cluster.
#pragma once

#include <tlm>

#include "models/module.h"
#include "models/place.h"

namespace attnvp {

class DmaController : public Module {
 public:
  using Module::Module;
  virtual tlm::tlm_target_socket<>& control() = 0;
  virtual tlm::tlm_initiator_socket<>& bus() = 0;  // to all memories,
  virtual tlm::tlm_initiator_socket<>& l1() = 0;   //   but for the own L1
  virtual tlm::tlm_initiator_socket<>& events(std::uint32_t channel) = 0;
};

}  // namespace attnvp
