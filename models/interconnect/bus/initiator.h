// Interfaces of initiators. LT: control processors make all accesses with b_transport through request(). A target may
// pass time within the call or annotate it. A payload without a response was refused. AT: modules make accesses with
// nb_transport through AtInitiator.
#pragma once

#include <functional>
#include <systemc>
#include <tlm>
#include <utility>

#include "models/interconnect/bus/payload.h"
#include "models/interconnect/bus/transport.h"
#include "models/sim/event_queue.h"
#include "models/sim/module.h"
#include "models/sim/process.h"

namespace attnvp {

// Makes the access, which ends after `delay`. True: it was accepted.
template <class Socket>
bool request(Context& context, Socket& socket, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  socket->b_transport(payload, delay);
  if (context.jitter != nullptr) delay += context.jitter->delay(socket.name());
  return payload.is_response_ok();
}

// Synchronises the calling thread: waits for the annotated delay and clears it.
inline void arrive(sim::EventQueue& event_queue, sc_core::sc_time& delay) {
  if (delay == sc_core::SC_ZERO_TIME) return;
  event_queue.wait_until(event_queue.now_fs() + delay.value());
  delay = sc_core::SC_ZERO_TIME;
}

// AT initiator: a process makes one access at a time with nb_transport, without blocking.
class AtInitiator : private PendingAccess {
 public:
  explicit AtInitiator(Context& context)
      : clock_(context.clock), jitter_(context.jitter), end_(context.event_queue), late_(context.event_queue) {}

  struct Awaiter {
    AtInitiator& access;
    bool await_ready() const noexcept { return access.is_over_; }
    void await_suspend(std::coroutine_handle<> process) const noexcept {
      sim::Event::Awaiter{access.end_}.await_suspend(process);
    }
    bool await_resume() const noexcept {
      access.is_over_ = true;
      return access.is_ok_;
    }
  };
  // `co_await access.transport(socket, payload)` returns when the access ends: true if it was accepted. The socket is
  // an InitiatorSocket or a StreamInitiatorSocket, with its type of payload.
  template <class Socket, class Payload>
  [[nodiscard]] Awaiter transport(Socket& socket, Payload& payload) {
    const sc_core::sc_time before = jitter_ == nullptr ? sc_core::SC_ZERO_TIME : jitter_->delay(socket.name());
    if (before == sc_core::SC_ZERO_TIME) return transport_after(socket, payload, before);
    if (!late_starts_) late_starts_ = start_late();
    is_over_ = false;
    start_ = [this, &socket, &payload] { start(socket, payload, sc_core::SC_ZERO_TIME); };
    late_.notify_at(clock_.now_fs() + before.value());
    return {*this};
  }
  // The same, for an access that starts after `delay`.
  template <class Socket, class Payload>
  [[nodiscard]] Awaiter transport_after(Socket& socket, Payload& payload, sc_core::sc_time delay) {
    is_over_ = false;
    start(socket, payload, delay);
    return {*this};
  }

  void visit_state(sim::StateVisitor& visitor) const {
    visitor.value(is_over_);
    visitor.waits(end_);
    visitor.value(is_ok_);
  }

 private:
  template <class Socket, class Payload>
  void start(Socket& socket, Payload& payload, sc_core::sc_time delay) {
    socket_name_ = socket.name();
    if (socket.begin(payload, *this, delay)) responded(payload.is_response_ok(), delay);
  }
  void responded(bool is_ok, const sc_core::sc_time& delay) override {
    is_ok_ = is_ok;
    sc_core::sc_time after = delay;
    if (jitter_ != nullptr) after += jitter_->delay(socket_name_);
    if (after != sc_core::SC_ZERO_TIME) return end_.notify_at(clock_.now_fs() + after.value());
    is_over_ = true;
    end_.notify();
  }
  // Starts accesses that jitter delays.
  sim::Process start_late() {
    for (;;) {
      co_await late_;
      start_();
    }
  }

  const Clock& clock_;
  const std::unique_ptr<Jitter>& jitter_;
  sim::Event end_;  // of the access
  sim::Event late_;
  const char* socket_name_ = "";
  bool is_over_ = true;
  bool is_ok_ = true;
  std::function<void()> start_;
  sim::Process late_starts_;
};

}  // namespace attnvp
