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

// AT initiator: a process or a callback makes one access at a time with nb_transport, without blocking.
class AtInitiator : private PendingAccess {
 public:
  // `over` is the completion callback of accesses that begin() starts and that end later.
  explicit AtInitiator(Context& context, sim::Callback over = {})
      : clock_(context.clock),
        jitter_(context.jitter),
        over_(over),
        then_(context.event_queue, sim::Callback::of<&AtInitiator::resume>(this)) {}

  // `co_await access.transport(socket, payload)` returns when the access ends: true if it was accepted. The socket is
  // an InitiatorSocket or a StreamInitiatorSocket, with its type of payload.
  struct Awaiter : sim::Completion::Awaiter {
    const AtInitiator& access;
    bool await_resume() const noexcept { return access.is_ok_; }
  };
  template <class Socket, class Payload>
  [[nodiscard]] Awaiter transport(Socket& socket, Payload& payload) {
    done_.begin();
    if (begin(socket, payload)) done_.complete();
    return {done_.end(), *this};
  }
  // The same, for an access that starts after `delay`.
  template <class Socket, class Payload>
  [[nodiscard]] Awaiter transport_after(Socket& socket, Payload& payload, sc_core::sc_time delay) {
    done_.begin();
    if (make(socket, payload, delay)) done_.complete();
    return {done_.end(), *this};
  }

  // Starts an access. True: it is complete. False: `over` is called at its end.
  template <class Socket, class Payload>
  bool begin(Socket& socket, Payload& payload) {
    if (jitter_ == nullptr) return make(socket, payload, sc_core::SC_ZERO_TIME);
    const sc_core::sc_time before = jitter_->delay(socket.name());
    if (before == sc_core::SC_ZERO_TIME) return make(socket, payload, before);
    late_ = [this, &socket, &payload] { return make(socket, payload, sc_core::SC_ZERO_TIME); };
    then_.notify_at(clock_.now_fs() + before.value());
    return false;
  }
  bool ok() const { return is_ok_; }  // the completed access was accepted
  void visit_state(sim::StateVisitor& visitor) const {
    visitor.waits(done_);
    visitor.value(is_ok_);
  }

 private:
  template <class Socket, class Payload>
  bool make(Socket& socket, Payload& payload, sc_core::sc_time delay) {
    socket_name_ = socket.name();
    if (!socket.begin(payload, *this, delay)) return false;
    is_ok_ = payload.is_response_ok();
    if (jitter_ != nullptr) delay += jitter_->delay(socket_name_);
    if (delay == sc_core::SC_ZERO_TIME) return true;
    then_.notify_at(clock_.now_fs() + delay.value());
    return false;
  }
  void responded(bool is_ok, const sc_core::sc_time& delay) override {
    is_ok_ = is_ok;
    sc_core::sc_time after = delay;
    if (jitter_ != nullptr) after += jitter_->delay(socket_name_);
    if (after == sc_core::SC_ZERO_TIME) return end();
    then_.notify_at(clock_.now_fs() + after.value());
  }
  void resume() {
    if (late_ != nullptr && !std::exchange(late_, nullptr)()) return;
    end();
  }
  void end() { over_.function != nullptr ? over_() : done_.complete(); }

  const Clock& clock_;
  const std::unique_ptr<Jitter>& jitter_;
  sim::Callback over_;
  sim::Completion done_;
  sim::Event then_;
  const char* socket_name_ = "";
  bool is_ok_ = true;
  std::function<bool()> late_;  // start of an access that jitter delays
};

}  // namespace attnvp
