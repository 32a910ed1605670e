// How processes reach modules: every b_transport of a control processor is made here, so that the time a target takes
// is honoured on every path, whether it passes within the call or is annotated. A target that leaves a payload
// unanswered has refused it. Approximately timed modules have models/bus/at_initiator.h.
#pragma once

#include <systemc>
#include <tlm>

#include "models/module.h"
#include "models/sim/event_queue.h"

namespace attnvp {

// The access is over but for what is added to `delay`.
template <class Socket>
bool request(Context& context, Socket& socket, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  socket->b_transport(payload, delay);
  if (context.jitter != nullptr) delay += context.jitter->delay(socket.name());
  return payload.is_response_ok();
}

// The time at which the initiator says that it is has come: for itself, or for targets that others watch.
inline void arrive(sim::EventQueue& event_queue, sc_core::sc_time& delay) {
  if (delay == sc_core::SC_ZERO_TIME) return;
  event_queue.wait_until(event_queue.now_fs() + delay.value());
  delay = sc_core::SC_ZERO_TIME;
}

}  // namespace attnvp
