// Register port of a plug-in engine or DMA controller: forwards accesses of processors by b_transport. Protocol
// violations are faults of the surrounding module.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <deque>
#include <functional>
#include <string>

#include "models/sim/counter.h"
#include "models/sim/module.h"

namespace attnvp {

class ForeignControl : public sc_core::sc_module {
 public:
  using Fault = std::function<void(std::uint64_t address, std::string what)>;
  ForeignControl(sc_core::sc_module_name name, Context& context, tlm::tlm_target_socket<>& target, Counter& descriptors,
                 Fault fault);

  tlm_utils::simple_target_socket<ForeignControl> in{"in"};

  std::string waiting_for() const;  // description of an access without response; empty: none

 private:
  struct Call {
    std::string what;  // "a write of 4 bytes"
    std::uint64_t address;
    std::uint64_t cycle;
  };
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) { return out_->transport_dbg(payload); }

  Context& ctx_;
  Counter& descriptors_;
  Fault fault_;
  std::deque<Call> calls_;  // in progress
  tlm_utils::simple_initiator_socket<ForeignControl> out_{"out"};
};

}  // namespace attnvp
