// The TLM-2.0 base protocol as the platform uses it (IEEE 1666-2011, 15.2).
//
// Approximately timed (AT): DMA controllers, event ports and networks use nb_transport.
//   initiator  nb_transport_fw(BEGIN_REQ), after an annotated delay
//   target     returns TLM_COMPLETED: the access ends after the delay; or TLM_UPDATED with END_REQ, and later calls
//              nb_transport_bw(BEGIN_RESP)
//   initiator  returns TLM_COMPLETED: the access ends after that delay
// The payload belongs to the access from BEGIN_REQ to its end. It has a memory manager (payload.h).
//
// Loosely timed (LT): control processors, which are SystemC threads, use b_transport.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <deque>
#include <systemc>
#include <tlm>

#include "models/sim/event_queue.h"
#include "models/sim/module.h"

namespace attnvp {

// Initiator's side of an access in flight, attached to the payload as an extension. An interconnect replaces it by its
// own when it forwards the payload, and restores it with the response.
class PendingAccess : public tlm::tlm_extension<PendingAccess> {
 public:
  // The target has responded, and the access ends after `delay`. `is_ok`: it was accepted.
  virtual void responded(bool is_ok, const sc_core::sc_time& delay) = 0;

  tlm_extension_base* clone() const override { return nullptr; }
  void copy_from(const tlm_extension_base& /*other*/) override {}
  void free() override {}  // owned by the initiator

 protected:
  ~PendingAccess() override = default;
};

// Initiator socket for any number of accesses in flight.
class InitiatorSocket : public tlm::tlm_initiator_socket<> {
 public:
  explicit InitiatorSocket(const char* name) : tlm_initiator_socket<>(name) { bind(backward_); }

  // Sends BEGIN_REQ. True: the access ends after `delay`. False: access.responded() will be called.
  bool begin(tlm::tlm_generic_payload& payload, PendingAccess& access, sc_core::sc_time& delay) {
    payload.set_extension(&access);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    const tlm::tlm_sync_enum sync = (*this)->nb_transport_fw(payload, phase, delay);
    if (sync == tlm::TLM_COMPLETED) return true;
    if (sync != tlm::TLM_UPDATED || phase != tlm::BEGIN_RESP) return false;
    phase = tlm::END_RESP;
    sc_core::sc_time end = delay;
    (*this)->nb_transport_fw(payload, phase, end);
    return true;
  }

 private:
  using tlm_initiator_socket<>::bind;
  struct Backward : tlm::tlm_bw_transport_if<> {
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override {
      if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
      if (auto* const access = payload.get_extension<PendingAccess>()) {
        access->responded(payload.is_response_ok(), delay);
      }
      return tlm::TLM_COMPLETED;
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64 /*start*/, sc_dt::uint64 /*end*/) override {}
  } backward_;

 public:
  void bind(tlm::tlm_target_socket<>& target) { tlm_initiator_socket<>::bind(target); }
};

// Blocks a SystemC thread until an access that it has started ends.
class WaitingThread {
 public:
  explicit WaitingThread(sim::EventQueue& event_queue) : event_queue_(event_queue), ended_(event_queue) {}
  void end(const sc_core::sc_time& delay) {
    end_fs_ = event_queue_.now_fs() + delay.value();
    is_over_ = true;
    ended_.notify();
  }
  // Waits until the end of the access is known; returns the delay until it.
  sc_core::sc_time wait() {
    while (!is_over_) ended_.wait();
    const std::uint64_t now = event_queue_.now_fs();
    return sc_core::sc_time::from_value(end_fs_ > now ? end_fs_ - now : 0);
  }

 private:
  sim::EventQueue& event_queue_;
  sim::Condition ended_;
  std::uint64_t end_fs_ = 0;
  bool is_over_ = false;
};

// Target's side of an accepted access: the destination of its response.
class Response {
 public:
  using Send = void (*)(void* to, void* access, const sc_core::sc_time& delay);
  Response() = default;
  Response(Send how, void* to, void* access) : send_(how), to_(to), access_(access) {}
  // BEGIN_RESP over the socket of the request.
  static Response over(tlm::tlm_target_socket<>& socket, tlm::tlm_generic_payload& payload) {
    return {[](void* to, void* access, const sc_core::sc_time& delay) {
              tlm::tlm_phase phase = tlm::BEGIN_RESP;
              sc_core::sc_time after = delay;
              (*static_cast<tlm::tlm_target_socket<>*>(to))
                  ->nb_transport_bw(*static_cast<tlm::tlm_generic_payload*>(access), phase, after);
            },
            &socket, &payload};
  }
  static Response to(WaitingThread& thread) {
    return {
        [](void* to, void* /*access*/, const sc_core::sc_time& delay) { static_cast<WaitingThread*>(to)->end(delay); },
        &thread, nullptr};
  }

  // The response status must be set before.
  void send(const sc_core::sc_time& delay) const { send_(to_, access_, delay); }

 private:
  Send send_ = nullptr;
  void* to_ = nullptr;
  void* access_ = nullptr;
};

// Return value of a target for BEGIN_REQ if the response follows: END_REQ, without delay.
inline tlm::tlm_sync_enum accept(tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  phase = tlm::END_REQ;
  delay = sc_core::SC_ZERO_TIME;
  return tlm::TLM_UPDATED;
}

// Interface of a module with TargetSockets.
class Target {
 public:
  // Access that arrives after `delay`. True: it ends, or is refused, after the returned `delay`. False: `response` is
  // sent later. The response status is set in both cases. `port`: number of the socket.
  virtual bool begin(std::uint32_t port, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay,
                     const Response& response) = 0;
  virtual unsigned debug(std::uint32_t /*port*/, tlm::tlm_generic_payload& /*payload*/) { return 0; }
  virtual bool direct(std::uint32_t /*port*/, tlm::tlm_generic_payload& /*payload*/, tlm::tlm_dmi& /*dmi*/) {
    return false;
  }

 protected:
  ~Target() = default;
};

// Target socket: LT and AT accesses call Target::begin().
class TargetSocket : public tlm::tlm_target_socket<>, private tlm::tlm_fw_transport_if<> {
 public:
  TargetSocket(const char* name, sim::EventQueue& event_queue, Target& owner, std::uint32_t port = 0)
      : tlm_target_socket<>(name), event_queue_(event_queue), owner_(owner), port_(port) {
    bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
  }

 private:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    if (phase != tlm::BEGIN_REQ) return tlm::TLM_COMPLETED;  // END_RESP
    if (owner_.begin(port_, payload, delay, Response::over(*this, payload))) return tlm::TLM_COMPLETED;
    return accept(phase, delay);
  }
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
    WaitingThread thread(event_queue_);
    if (!owner_.begin(port_, payload, delay, Response::to(thread))) delay = thread.wait();
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) override { return owner_.debug(port_, payload); }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override {
    return owner_.direct(port_, payload, dmi);
  }

  sim::EventQueue& event_queue_;
  Target& owner_;
  std::uint32_t port_;
};

// LT adaptor: binds AT initiators to a target that has b_transport only or that uses kernel time. A SystemC process
// makes each access; the number of processes is the number of accesses in flight.
class LtAdaptor : public sc_core::sc_module, private tlm::tlm_fw_transport_if<> {
 public:
  LtAdaptor(sc_core::sc_module_name name, Context& context);

  tlm::tlm_target_socket<> in{"in"};
  tlm_utils::simple_initiator_socket<LtAdaptor> out{"out"};

 private:
  struct LtAccess {
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
  std::deque<LtAccess> waiting_;
  std::uint32_t idle_ = 0;  // processes without an access
  sc_core::sc_event work_;
};

}  // namespace attnvp
