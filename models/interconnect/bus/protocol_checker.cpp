#include "models/interconnect/bus/protocol_checker.h"

#include <fmt/format.h>

namespace attnvp {

ProtocolChecker::ProtocolChecker(sc_core::sc_module_name name, Context& context, tlm::tlm_target_socket<>& target)
    : sc_module(name), ctx_(context), target_(target.name()) {
  in.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
  out_.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
  out_.bind(target);
}

void ProtocolChecker::broken(const Payload& payload, const std::string& what) {
  if (is_broken_) return;
  is_broken_ = true;
  ctx_.faults.report({target_, ctx_.clock.now(), FaultCode::kNone, payload.get_address(),
                      fmt::format("breach of the TLM-2.0 base protocol: {} (a {} of {} bytes)", what,
                                  payload.is_write() ? "write" : "read", payload.get_data_length())});
  for (sim::Condition* wake : ctx_.fault_line) wake->notify();
}

ProtocolChecker::CheckedTransaction ProtocolChecker::transaction_of(const Payload& payload) {
  return {TransactionState::kRequested, payload.get_command(), payload.get_address(), payload.get_data_length()};
}

ProtocolChecker::CheckedTransaction* ProtocolChecker::find(const Payload& payload) {
  const auto found = under_way_.find(&payload);
  return found == under_way_.end() ? nullptr : &found->second;
}

void ProtocolChecker::begin_request(const Payload& payload) {
  if (!payload.has_mm() || payload.get_ref_count() < 1) {
    broken(payload, "a payload of nb_transport has no memory manager or no reference");
  } else if (find(payload) != nullptr) {
    broken(payload, "BEGIN_REQ of a payload that is under way");
  } else if (request_ != nullptr) {
    broken(payload, "BEGIN_REQ before END_REQ of the request before");
  } else if (payload.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE) {
    broken(payload, "BEGIN_REQ with a response status that is not TLM_INCOMPLETE_RESPONSE");
  } else if (payload.get_data_length() == 0 || payload.get_data_ptr() == nullptr ||
             payload.get_streaming_width() == 0) {
    broken(payload, "BEGIN_REQ without data, or with a streaming width of 0");
  }
  under_way_[&payload] = transaction_of(payload);
  request_ = &payload;
}

void ProtocolChecker::check_response(const Payload& payload, const CheckedTransaction& begun) {
  if (payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE) {
    broken(payload, "a response without a response status");
  } else if (payload.get_command() != begun.command || payload.get_address() != begun.address ||
             payload.get_data_length() != begun.bytes) {
    broken(payload, "command, address or length changed between request and response");
  }
}

tlm::tlm_sync_enum ProtocolChecker::nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase == tlm::END_RESP) {
    if (response_ != &payload) broken(payload, "END_RESP without BEGIN_RESP");
    response_ = nullptr;
    under_way_.erase(&payload);
    return out_->nb_transport_fw(payload, phase, delay);
  }
  if (phase != tlm::BEGIN_REQ) {
    broken(payload, fmt::format("{} on the forward path", phase.get_name()));
    return out_->nb_transport_fw(payload, phase, delay);
  }
  begin_request(payload);
  const tlm::tlm_sync_enum sync = out_->nb_transport_fw(payload, phase, delay);
  CheckedTransaction* const t = find(payload);
  if (t == nullptr) return sync;  // it has ended within the call
  if (sync == tlm::TLM_ACCEPTED) return sync;
  if (sync == tlm::TLM_UPDATED && phase != tlm::END_REQ && phase != tlm::BEGIN_RESP) {
    broken(payload, fmt::format("TLM_UPDATED with {} to BEGIN_REQ", phase.get_name()));
  }
  if (t->state != TransactionState::kRequested) {
    broken(payload, fmt::format("{} to BEGIN_REQ after a phase on the backward path",
                                sync == tlm::TLM_COMPLETED ? "TLM_COMPLETED" : "TLM_UPDATED"));
  }
  request_ = nullptr;
  t->state = TransactionState::kAccepted;
  if (sync == tlm::TLM_UPDATED && phase == tlm::END_REQ) return sync;
  check_response(payload, *t);
  if (sync == tlm::TLM_COMPLETED) {
    under_way_.erase(&payload);
  } else {
    begin_response(payload, *t);
  }
  return sync;
}

void ProtocolChecker::begin_response(const Payload& payload, CheckedTransaction& transaction) {
  if (response_ != nullptr) broken(payload, "BEGIN_RESP before END_RESP of the response before");
  response_ = &payload;
  transaction.state = TransactionState::kResponded;
}

tlm::tlm_sync_enum ProtocolChecker::nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  CheckedTransaction* const t = find(payload);
  if (t == nullptr) {
    broken(payload, fmt::format("{} of a payload that is not under way", phase.get_name()));
    return tlm::TLM_COMPLETED;
  }
  if (phase == tlm::END_REQ) {
    if (t->state != TransactionState::kRequested) broken(payload, "END_REQ twice, or after BEGIN_RESP");
    if (request_ == &payload) request_ = nullptr;
    t->state = TransactionState::kAccepted;
    return in->nb_transport_bw(payload, phase, delay);
  }
  if (phase != tlm::BEGIN_RESP) {
    broken(payload, fmt::format("{} on the backward path", phase.get_name()));
    return tlm::TLM_ACCEPTED;
  }
  if (t->state == TransactionState::kResponded) {
    broken(payload, "BEGIN_RESP twice");
    return tlm::TLM_COMPLETED;
  }
  check_response(payload, *t);
  if (request_ == &payload) request_ = nullptr;  // BEGIN_RESP implies END_REQ
  begin_response(payload, *t);
  const CheckedTransaction begun = *t;
  under_way_.erase(&payload);  // the initiator may reuse the payload within the call
  response_ = nullptr;
  const tlm::tlm_sync_enum sync = in->nb_transport_bw(payload, phase, delay);
  if (sync == tlm::TLM_ACCEPTED) {
    under_way_[&payload] = begun;
    response_ = &payload;
  } else if (sync == tlm::TLM_UPDATED && phase != tlm::END_RESP) {
    broken(payload, fmt::format("TLM_UPDATED with {} to BEGIN_RESP", phase.get_name()));
  }
  return sync;
}

void ProtocolChecker::b_transport(Payload& payload, sc_core::sc_time& delay) {
  const CheckedTransaction begun = transaction_of(payload);
  if (payload.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE) {
    broken(payload, "b_transport with a response status that is not TLM_INCOMPLETE_RESPONSE");
  }
  out_->b_transport(payload, delay);
  check_response(payload, begun);
}

}  // namespace attnvp
