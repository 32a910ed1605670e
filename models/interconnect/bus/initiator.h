// Interface of LT initiators: control processors make all accesses with b_transport through request(). A target may
// pass time within the call or annotate it. A payload without a response was refused. AT modules use
// models/interconnect/bus/at_initiator.h.
#pragma once

#include <systemc>
#include <tlm>

#include "models/sim/event_queue.h"
#include "models/sim/module.h"

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

}  // namespace attnvp
