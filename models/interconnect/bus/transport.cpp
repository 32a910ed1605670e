#include "models/interconnect/bus/transport.h"

namespace attnvp {

LtAdaptor::LtAdaptor(sc_core::sc_module_name name, Context& context) : sc_module(name), ctx_(context) {
  in.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
}

tlm::tlm_sync_enum LtAdaptor::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                              sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_COMPLETED;  // END_RESP
  waiting_.push_back({ctx_.clock.now_fs(), delay, &payload, Response::over(in, payload)});
  if (idle_ == 0) sc_core::sc_spawn([this] { carry(); }, sc_core::sc_gen_unique_name("carrier"));
  ctx_.event_queue.notify(work_);
  return accept(phase, delay);
}

void LtAdaptor::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const sim::EventQueue::KernelTimeGuard halt(ctx_.event_queue);
  out->b_transport(payload, delay);
}

void LtAdaptor::carry() {
  while (true) {
    while (waiting_.empty()) {
      ++idle_;
      sc_core::wait(work_);
      --idle_;
    }
    const LtAccess access = waiting_.front();
    waiting_.pop_front();
    if (!waiting_.empty() && idle_ > 0) work_.notify(sc_core::SC_ZERO_TIME);
    const std::uint64_t now = sc_core::sc_time_stamp().value();
    if (access.time_fs > now) sc_core::wait(sc_core::sc_time::from_value(access.time_fs - now));
    sc_core::sc_time delay = access.delay;
    out->b_transport(*access.payload, delay);
    access.response.send(ctx_.clock.cycles(ctx_.clock.ceil_cycles(delay)));
  }
}

}  // namespace attnvp
