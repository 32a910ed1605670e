// How modules reach each other: every b_transport of an initiator is made here, so that the time a target takes is
// honoured on every path, whether it passes within the call or is annotated. A target that leaves a payload unanswered
// has refused it.
#pragma once

#include <systemc>
#include <tlm>

#include "models/bus/jitter.h"

namespace attnvp {

// The access is over but for what is added to `delay`: for initiators that have several under way.
template <class Socket>
bool request(Socket& socket, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  socket->b_transport(payload, delay);
  if (jitter::on) delay += jitter::delay(socket.name());
  return payload.is_response_ok();
}

// The access is over when this returns. False: the target refused it.
template <class Socket>
bool access(Socket& socket, tlm::tlm_generic_payload& payload) {
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  if (jitter::on) delay = jitter::delay(socket.name());
  if (delay != sc_core::SC_ZERO_TIME) sc_core::wait(delay);
  delay = sc_core::SC_ZERO_TIME;
  const bool ok = request(socket, payload, delay);
  if (delay != sc_core::SC_ZERO_TIME) sc_core::wait(delay);
  return ok;
}

// For targets that others watch: the time at which the initiator says that it is has come.
inline void arrive(sc_core::sc_time& delay) {
  if (delay == sc_core::SC_ZERO_TIME) return;
  sc_core::wait(delay);
  delay = sc_core::SC_ZERO_TIME;
}

}  // namespace attnvp
