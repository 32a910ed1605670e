// The control and DRAM network: a full crossbar that decodes addresses and adds no time of its own (the accesses'
// cost is at their ends: bus cycles at the control processor, bandwidth at DRAM). Addresses are not translated.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <memory>
#include <vector>

#include "models/interconnect/address_map.h"
#include "models/module.h"

namespace attnvp {

class Interconnect : public Module {
 public:
  Interconnect(sc_core::sc_module_name name, Context& context) : Module(name, context) {}

  // A new socket for an initiator to bind to.
  tlm_utils::simple_target_socket_tagged<Interconnect>& add_initiator(const std::string& name);
  // A new socket, to be bound to the target that answers for the range.
  tlm_utils::simple_initiator_socket<Interconnect>& add_target(AddressRange range);

  const AddressMap& map() const { return map_; }

 private:
  void b_transport(int initiator, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(int initiator, tlm::tlm_generic_payload& payload);

  AddressMap map_;
  std::vector<int> last_target_;  // of each initiator; most go on where they were
  std::vector<std::unique_ptr<tlm_utils::simple_target_socket_tagged<Interconnect>>> in_;
  std::vector<std::unique_ptr<tlm_utils::simple_initiator_socket<Interconnect>>> out_;
};

}  // namespace attnvp
