#include "models/plugin/foreign_initiator.h"

#include <algorithm>

namespace attnvp {

ForeignInitiator::ForeignInitiator(sc_core::sc_module_name name, Context& context, Target& target, std::uint32_t port)
    : sc_module(name), ctx_(context), target_(target), port_(port) {
  in.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
  SC_HAS_PROCESS(ForeignInitiator);
  SC_METHOD(respond);
  sensitive << changed_;
  dont_initialize();
}

tlm::tlm_sync_enum ForeignInitiator::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                     sc_core::sc_time& delay) {
  if (phase == tlm::END_RESP) {
    responding_ = nullptr;
    changed_.notify(delay);
    return tlm::TLM_COMPLETED;
  }
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  const Response response{[](void* to, void* access, const sc_core::sc_time& after) {
                            auto& answered = *static_cast<tlm::tlm_generic_payload*>(access);
                            static_cast<ForeignInitiator*>(to)->answer(answered, after);
                          },
                          this, &payload};
  if (target_.begin(port_, payload, delay, response)) {
    if (delay == sc_core::SC_ZERO_TIME) return tlm::TLM_COMPLETED;
    answer(payload, delay);  // the next request does not wait for it
  }
  return accept(phase, delay);
}

void ForeignInitiator::answer(tlm::tlm_generic_payload& payload, const sc_core::sc_time& after) {
  answers_.push_back({ctx_.clock.now_fs() + after.value(), &payload});
  ctx_.event_queue.notify(changed_, after.value());
}

void ForeignInitiator::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  WaitingThread thread(ctx_.event_queue);
  if (!target_.begin(port_, payload, delay, Response::to(thread))) delay = thread.wait();
}

void ForeignInitiator::respond() {
  const std::uint64_t now = sc_core::sc_time_stamp().value();
  while (responding_ == nullptr && !answers_.empty()) {
    const auto next = std::min_element(answers_.begin(), answers_.end(),
                                       [](const Answer& a, const Answer& b) { return a.time_fs < b.time_fs; });
    if (next->time_fs > now) return next_trigger(sc_core::sc_time::from_value(next->time_fs - now), changed_);
    tlm::tlm_generic_payload* const payload = next->payload;
    answers_.erase(next);
    responding_ = payload;
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time none = sc_core::SC_ZERO_TIME;
    const tlm::tlm_sync_enum answer = in->nb_transport_bw(*payload, phase, none);
    const bool is_over = answer == tlm::TLM_COMPLETED || (answer == tlm::TLM_UPDATED && phase == tlm::END_RESP);
    if (is_over) responding_ = nullptr;
  }
}

bool Passage::begin(std::uint32_t /*port*/, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay,
                    const Response& response) {
  if (free_hops_.empty()) free_hops_.push_back(&hops_.emplace_back(*this));
  Hop& hop = *free_hops_.back();
  free_hops_.pop_back();
  hop.payload = &payload;
  hop.sent = &managed(payload, hop.own);
  hop.former = hop.sent->get_extension<PendingAccess>();
  hop.response = response;
  if (!out.begin(*hop.sent, hop, delay)) return false;
  end(hop);
  return true;
}

void Passage::Hop::responded(bool /*is_ok*/, const sc_core::sc_time& delay) {
  const Response to = response;
  owner.end(*this);
  to.send(delay);
}

void Passage::end(Hop& hop) {
  hop.sent->set_extension(hop.former);
  hop.payload->set_response_status(hop.sent->get_response_status());
  free_hops_.push_back(&hop);
}

}  // namespace attnvp
