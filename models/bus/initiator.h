// How processes reach modules: every b_transport of a control processor is made here, so that the time a target takes
// is honoured on every path, whether it passes within the call or is annotated. A target that leaves a payload
// unanswered has refused it. Modules of steps have models/bus/posted.h.
#pragma once

#include <systemc>
#include <tlm>

#include "models/agenda/agenda.h"
#include "models/bus/jitter.h"

namespace attnvp {

// The access is over but for what is added to `delay`.
template <class Socket>
bool request(Socket& socket, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  socket->b_transport(payload, delay);
  if (jitter::on) delay += jitter::delay(socket.name());
  return payload.is_response_ok();
}

// The time at which the initiator says that it is has come: for itself, or for targets that others watch.
inline void arrive(Agenda& agenda, sc_core::sc_time& delay) {
  if (delay == sc_core::SC_ZERO_TIME) return;
  agenda.wait_until(agenda.now_fs() + delay.value());
  delay = sc_core::SC_ZERO_TIME;
}

}  // namespace attnvp
