// Protocol checker for any binding of the TLM-2.0 base protocol (IEEE 1666-2011, 14.5, 14.17, 15.2). It forwards every
// call. It checks the order of phases, request and response exclusion, the life of payloads and the response status. A
// violation ends the run with an error that names the target, the rule and the time. `simulation.protocol_check: on`,
// or ATTNVP_PROTOCOL_CHECK in the environment, places one before every target of a platform. Results do not change.
#pragma once

#include <string>
#include <unordered_map>

#include "models/interconnect/bus/transport.h"
#include "models/sim/module.h"

namespace attnvp {

class ProtocolChecker : public sc_core::sc_module,
                        private tlm::tlm_fw_transport_if<>,
                        private tlm::tlm_bw_transport_if<> {
 public:
  ProtocolChecker(sc_core::sc_module_name name, Context& context, tlm::tlm_target_socket<>& target);

  tlm::tlm_target_socket<> in{"in"};

 private:
  enum class TransactionState : std::uint8_t { kRequested, kAccepted, kResponded };  // last phase
  struct CheckedTransaction {
    TransactionState state = TransactionState::kRequested;
    tlm::tlm_command command = tlm::TLM_IGNORE_COMMAND;
    std::uint64_t address = 0, bytes = 0;
  };
  using Payload = tlm::tlm_generic_payload;

  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
  void b_transport(Payload& payload, sc_core::sc_time& delay) override;
  unsigned transport_dbg(Payload& payload) override { return out_->transport_dbg(payload); }
  bool get_direct_mem_ptr(Payload& payload, tlm::tlm_dmi& dmi) override {
    return out_->get_direct_mem_ptr(payload, dmi);
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) override {
    in->invalidate_direct_mem_ptr(start, end);
  }

  static CheckedTransaction transaction_of(const Payload& payload);
  void begin_request(const Payload& payload);
  void begin_response(const Payload& payload, CheckedTransaction& transaction);
  void check_response(const Payload& payload, const CheckedTransaction& begun);
  CheckedTransaction* find(const Payload& payload);
  void broken(const Payload& payload, const std::string& what);

  Context& ctx_;
  std::string target_;  // name
  tlm::tlm_initiator_socket<> out_{"out"};
  std::unordered_map<const Payload*, CheckedTransaction> under_way_;
  const Payload* request_ = nullptr;   // between BEGIN_REQ and END_REQ
  const Payload* response_ = nullptr;  // between BEGIN_RESP and END_RESP
  bool is_broken_ = false;
};

}  // namespace attnvp
