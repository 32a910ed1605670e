// Adaptors to TLM-2.0 sockets of plug-ins, LT (b_transport) or AT with four phases, at SystemC time.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "models/interconnect/bus/payload.h"
#include "models/interconnect/bus/transport.h"
#include "models/sim/module.h"

namespace attnvp {

// Adaptor to a plug-in's target.
//
// With four phases an SC_THREAD sends the accesses; a request begins when the previous one has ended. With b_transport
// either an access ends before the next one begins, or there are as many SC_THREADs as accesses in flight. A phase
// takes effect at the end of its annotated delay. A violation of the protocol (IEEE 1666-2011, 15.2) is reported to the
// owner, and nothing further is sent.
class ForeignTarget : public sc_core::sc_module, private tlm::tlm_mm_interface {
 public:
  struct TargetRequest {
    bool is_read = true;
    std::uint64_t address = 0;  // relative to the target
    unsigned char* data = nullptr;
    std::uint32_t bytes = 0;
    void* access = nullptr;  // id, defined by the owner

    std::string text() const;  // "a read of 64 bytes"
  };
  class Owner {
   public:
    // The response takes effect at `end_fs`.
    virtual void answered(const TargetRequest& request, tlm::tlm_response_status status, std::uint64_t end_fs) = 0;
    // The target has violated the protocol with `request`, or without one (nullptr).
    virtual void broken(const TargetRequest* request, const std::string& what) = 0;

   protected:
    ~Owner() = default;
  };
  enum class Style : std::uint8_t { kPhases, kBlocking, kBlockingAtOnce };

  ForeignTarget(sc_core::sc_module_name name, Context& context, tlm::tlm_target_socket<>& target, Style style,
                Owner& owner);

  void send(const TargetRequest& request, std::uint64_t after_fs);
  // Removes the requests of an access that were not sent; returns their number.
  std::uint64_t withdraw(const void* access);
  // Oldest request without a response, and the cycle in which it was sent; nullptr: none.
  const TargetRequest* open(std::uint64_t* sent_cycle) const;
  // Request::access of a payload that a ForeignTarget has sent; nullptr for other payloads.
  static void* access_of(tlm::tlm_generic_payload& payload);

 private:
  // State of an access as seen by its initiator.
  enum class AccessState : std::uint8_t { kRequested, kAccepted, kAnswered };
  struct Transition {
    AccessState from;
    tlm::tlm_phase_enum phase;
    AccessState to;
  };
  static const Transition kLegal[3];

  // Holds its own reference to the payload, so that an excess release by the target frees nothing.
  struct Transaction : tlm::tlm_extension<Transaction> {
    explicit Transaction(tlm::tlm_mm_interface* owner) : payload(owner) {
      payload.set_extension(this);
      payload.acquire();
    }
    ~Transaction() override { payload.clear_extension(this); }
    tlm_extension_base* clone() const override { return nullptr; }
    void copy_from(const tlm_extension_base& /*other*/) override {}
    void free() override {}  // owned by the pool
    tlm::tlm_generic_payload payload;
    TargetRequest request;
    std::uint64_t sent_cycle = 0;
    AccessState state = AccessState::kAnswered;
    bool owes_end_resp = false;  // answered by the return value of the forward call
  };
  struct WaitingAccess {
    TargetRequest request;
    std::uint64_t time_fs;  // earliest time of its request
  };

  void run();
  void spawn();
  void send_in_phases(Transaction& transaction);
  void end_response(Transaction& transaction);
  template <class Call>
  void call(const Transaction& transaction, const Call& its_function);
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void advance(Transaction& transaction, const tlm::tlm_phase& phase, const sc_core::sc_time& delay);
  static std::string allowed_after(AccessState state);
  void broken(const Transaction* transaction, const std::string& what);
  Transaction& begin(const TargetRequest& request);
  void free(tlm::tlm_generic_payload* /*payload*/) override {}  // owned by the pool

  Context& ctx_;
  const Style style_;
  Owner& owner_;
  std::deque<WaitingAccess> queue_;
  std::deque<std::unique_ptr<Transaction>> pool_;  // in order of their start
  const Transaction* sending_ = nullptr;           // between start and end of its request
  sc_core::sc_time request_end_;                   // end of the current request, if known
  std::uint32_t idle_ = 0;                         // threads without a request
  bool is_broken_ = false;
  sc_core::sc_event queued_, request_ended_;
  tlm_utils::simple_initiator_socket<ForeignTarget> out_{"out"};
};

// Adaptor for a plug-in's initiator, to a Target. Responses are sent one response phase at a time (IEEE 1666-2011,
// 15.2.6.2).
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

  struct InitiatorResponse {
    std::uint64_t time_fs;
    tlm::tlm_generic_payload* payload;
  };
  Context& ctx_;
  Target& target_;
  const std::uint32_t port_;
  std::deque<InitiatorResponse> answers_;                 // in order of arrival
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
  struct PassageAccess final : PendingAccess {
    explicit PassageAccess(Passage& its_owner) : owner(its_owner) {}
    void responded(bool is_ok, const sc_core::sc_time& delay) override;
    Passage& owner;
    tlm::tlm_generic_payload* payload = nullptr;  // payload of the initiator,
    tlm::tlm_generic_payload* sent = nullptr;     // and the forwarded one
    OwnedPayload own;
    PendingAccess* former = nullptr;
    Response response;
  };
  void end(PassageAccess& hop);
  std::deque<PassageAccess> hops_;
  std::vector<PassageAccess*> free_hops_;
};

}  // namespace attnvp
