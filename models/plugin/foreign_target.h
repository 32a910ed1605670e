// Sends accesses to a plug-in's TLM-2.0 target, by b_transport or in four phases, at SystemC's time.
//
// In four phases an SC_THREAD sends one access after the other: a request begins when the one before has ended. By
// b_transport an access ends before the next one begins, or as many SC_THREADs send as accesses are under way. A delay
// that the target annotates counts as if it had passed: the phase takes effect at its end. What the protocol does not
// allow (IEEE 1666-2011, 15.2) is told the owner, and nothing more is sent.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "models/module.h"

namespace attnvp {

class ForeignTarget : public sc_core::sc_module, private tlm::tlm_mm_interface {
 public:
  struct Request {
    bool is_read = true;
    std::uint64_t address = 0;  // as the target has it
    unsigned char* data = nullptr;
    std::uint32_t bytes = 0;
    void* access = nullptr;  // the owner's

    std::string text() const;  // "a read of 64 bytes"
  };
  class Owner {
   public:
    // The response takes effect at that time.
    virtual void answered(const Request& request, tlm::tlm_response_status status, std::uint64_t end_fs) = 0;
    // The target does what is not allowed; `request`: with which, nullptr for none.
    virtual void broken(const Request* request, const std::string& what) = 0;

   protected:
    ~Owner() = default;
  };
  enum class Style : std::uint8_t { kPhases, kBlocking, kBlockingAtOnce };

  ForeignTarget(sc_core::sc_module_name name, Context& context, tlm::tlm_target_socket<>& target, Style style,
                Owner& owner);

  // After a delay.
  void send(const Request& request, std::uint64_t after_fs);
  // Takes back what has not been sent of an access; how many requests.
  std::uint64_t withdraw(const void* access);
  // The oldest request without a response, and the cycle in which it was sent; nullptr: there is none.
  const Request* open(std::uint64_t* sent_cycle) const;
  // Request::access of a payload that a ForeignTarget has sent; nullptr for other payloads.
  static void* access_of(tlm::tlm_generic_payload& payload);

 private:
  // An access, as its initiator sees it.
  enum class State : std::uint8_t { kRequested, kAccepted, kAnswered };
  struct Transition {
    State from;
    tlm::tlm_phase_enum phase;
    State to;
  };
  static const Transition kLegal[3];

  // With a reference of its own, so that a target that releases too often frees nothing.
  struct Transaction : tlm::tlm_extension<Transaction> {
    explicit Transaction(tlm::tlm_mm_interface* owner) : payload(owner) {
      payload.set_extension(this);
      payload.acquire();
    }
    ~Transaction() override { payload.clear_extension(this); }
    tlm_extension_base* clone() const override { return nullptr; }
    void copy_from(const tlm_extension_base& /*other*/) override {}
    void free() override {}  // the pool owns it
    tlm::tlm_generic_payload payload;
    Request request;
    std::uint64_t sent_cycle = 0;
    State state = State::kAnswered;
    bool owes_end_resp = false;  // it was answered on the forward path's return
  };
  struct Waiting {
    Request request;
    std::uint64_t time_fs;  // from which on it may be sent
  };

  void run();
  void spawn();
  void send_in_phases(Transaction& transaction);
  void end_response(Transaction& transaction);
  template <class Call>
  void call(const Transaction& transaction, const Call& its_function);
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void advance(Transaction& transaction, const tlm::tlm_phase& phase, const sc_core::sc_time& delay);
  static std::string allowed_after(State state);
  void broken(const Transaction* transaction, const std::string& what);
  Transaction& begin(const Request& request);
  void free(tlm::tlm_generic_payload* /*payload*/) override {}  // the pool keeps all of them

  Context& ctx_;
  const Style style_;
  Owner& owner_;
  std::deque<Waiting> queue_;
  std::deque<std::unique_ptr<Transaction>> pool_;  // in the order in which they began
  const Transaction* sending_ = nullptr;           // its request has begun and not ended
  sc_core::sc_time request_end_;                   // when it ends, as far as that is known
  std::uint32_t idle_ = 0;                         // threads that wait for something to send
  bool is_broken_ = false;
  sc_core::sc_event queued_, request_ended_;
  tlm_utils::simple_initiator_socket<ForeignTarget> out_{"out"};
};

}  // namespace attnvp
