#include "models/bus/bridge.h"

namespace attnvp {

Bridge::Bridge(sc_core::sc_module_name name, Context& context) : sc_module(name), ctx_(context) {
  in.register_b_transport(this, &Bridge::b_transport);
  in.register_transport_dbg(this, &Bridge::debug);
  in.register_get_direct_mem_ptr(this, &Bridge::direct);
}

void Bridge::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  auto* const later = payload.get_extension<CompletionExtension>();
  if (later == nullptr) {  // a process by itself
    const sim::EventQueue::KernelTimeGuard halt(ctx_.event_queue);
    return out->b_transport(payload, delay);
  }
  waiting_.push_back({ctx_.clock.now_fs(), payload.get_command(), payload.get_address(), payload.get_data_ptr(),
                      payload.get_data_length(), delay, payload.get_extension<StreamExtension>(),
                      payload.get_extension<OriginExtension>(), payload.get_extension<TimingOnlyExtension>() != nullptr,
                      later->to, later->ticket});
  later->deferred = true;
  delay = sc_core::SC_ZERO_TIME;
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  if (idle_ == 0) sc_core::sc_spawn([this] { carry(); }, sc_core::sc_gen_unique_name("carrier"));
  ctx_.event_queue.notify(work_);
}

void Bridge::carry() {
  tlm::tlm_generic_payload payload;
  TimingOnlyExtension timing_only;
  while (true) {
    while (waiting_.empty()) {
      ++idle_;
      sc_core::wait(work_);
      --idle_;
    }
    const Access access = waiting_.front();
    waiting_.pop_front();
    if (!waiting_.empty() && idle_ > 0) work_.notify(sc_core::SC_ZERO_TIME);
    const std::uint64_t now = sc_core::sc_time_stamp().value();
    if (access.time_fs > now) sc_core::wait(sc_core::sc_time::from_value(access.time_fs - now));
    payload.set_extension(access.stream);
    payload.set_extension(access.origin);
    payload.set_extension(access.timing_only ? &timing_only : nullptr);
    fill_payload(payload, access.command, access.address, access.data, access.bytes);
    sc_core::sc_time delay = access.delay;
    out->b_transport(payload, delay);
    access.to->completed(access.ticket, ctx_.clock.now() + ctx_.clock.ceil_cycles(delay), payload.is_response_ok());
  }
}

unsigned Bridge::debug(tlm::tlm_generic_payload& payload) { return out->transport_dbg(payload); }

bool Bridge::direct(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
  return out->get_direct_mem_ptr(payload, dmi);
}

}  // namespace attnvp
