// LT adaptor: binds AT initiators to a target that has b_transport only or that uses kernel time. A SystemC process
// makes each access; the number of processes is the number of accesses in flight.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <deque>

#include "models/interconnect/bus/transport.h"
#include "models/sim/module.h"

namespace attnvp {

class LtAdaptor : public sc_core::sc_module, private tlm::tlm_fw_transport_if<> {
 public:
  LtAdaptor(sc_core::sc_module_name name, Context& context);

  tlm::tlm_target_socket<> in{"in"};
  tlm_utils::simple_initiator_socket<LtAdaptor> out{"out"};

 private:
  struct Access {
    std::uint64_t time_fs;  // of BEGIN_REQ
    sc_core::sc_time delay;
    tlm::tlm_generic_payload* payload;
    Response response;
  };
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) override { return out->transport_dbg(payload); }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override {
    return out->get_direct_mem_ptr(payload, dmi);
  }
  void carry();

  Context& ctx_;
  std::deque<Access> waiting_;
  std::uint32_t idle_ = 0;  // processes without an access
  sc_core::sc_event work_;
};

}  // namespace attnvp
