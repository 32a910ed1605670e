// Adaptor for a plug-in's TLM-2.0 initiator, LT (b_transport) or AT with four phases, to a Target. Responses are sent
// at SystemC time, one response phase at a time (IEEE 1666-2011, 15.2.6.2).
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "models/interconnect/bus/payload.h"
#include "models/interconnect/bus/transport.h"
#include "models/sim/module.h"

namespace attnvp {

class ForeignInitiator : public sc_core::sc_module, private tlm::tlm_fw_transport_if<> {
 public:
  ForeignInitiator(sc_core::sc_module_name name, Context& context, Target& target, std::uint32_t port = 0);

  tlm::tlm_target_socket<> in{"in"};

 private:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) override { return target_.debug(port_, payload); }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& /*payload*/, tlm::tlm_dmi& /*dmi*/) override { return false; }
  void answer(tlm::tlm_generic_payload& payload, const sc_core::sc_time& after);
  void respond();

  struct Answer {
    std::uint64_t time_fs;
    tlm::tlm_generic_payload* payload;
  };
  Context& ctx_;
  Target& target_;
  const std::uint32_t port_;
  std::deque<Answer> answers_;                            // in order of arrival
  const tlm::tlm_generic_payload* responding_ = nullptr;  // between BEGIN_RESP and END_RESP
  sc_core::sc_event changed_;
};

// Forwards accesses to the target of a socket.
class Passage final : public Target {
 public:
  explicit Passage(const char* name) : out(name) {}
  InitiatorSocket out;

  bool begin(std::uint32_t port, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay,
             const Response& response) override;
  unsigned debug(std::uint32_t /*port*/, tlm::tlm_generic_payload& payload) override {
    return out->transport_dbg(payload);
  }

 private:
  // Access that the target has accepted.
  struct Hop final : PendingAccess {
    explicit Hop(Passage& its_owner) : owner(its_owner) {}
    void responded(bool is_ok, const sc_core::sc_time& delay) override;
    Passage& owner;
    tlm::tlm_generic_payload* payload = nullptr;  // payload of the initiator,
    tlm::tlm_generic_payload* sent = nullptr;     // and the forwarded one
    OwnedPayload own;
    PendingAccess* former = nullptr;
    Response response;
  };
  void end(Hop& hop);
  std::deque<Hop> hops_;
  std::vector<Hop*> free_hops_;
};

}  // namespace attnvp
