#include "models/plugin/foreign_sockets.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "models/interconnect/bus/payload.h"
#include "models/plugin/library.h"

namespace attnvp {

namespace {
const char* const kStateNames[] = {"BEGIN_REQ", "END_REQ", "its answer"};  // last phase
}

// Phases that a target may send, by state. BEGIN_RESP implies END_REQ.
const ForeignTarget::Transition ForeignTarget::kLegal[3] = {
    {AccessState::kRequested, tlm::END_REQ, AccessState::kAccepted},
    {AccessState::kRequested, tlm::BEGIN_RESP, AccessState::kAnswered},
    {AccessState::kAccepted, tlm::BEGIN_RESP, AccessState::kAnswered}};

std::string ForeignTarget::TargetRequest::text() const {
  return fmt::format("a {} of {} bytes", is_read ? "read" : "write", bytes);
}

ForeignTarget::ForeignTarget(sc_core::sc_module_name name, Context& context, tlm::tlm_target_socket<>& target,
                             Style style, Owner& owner)
    : sc_module(name), ctx_(context), style_(style), owner_(owner) {
  out_.register_nb_transport_bw(this, &ForeignTarget::nb_transport_bw);
  out_.bind(target);
  SC_HAS_PROCESS(ForeignTarget);
  if (style != Style::kBlockingAtOnce) SC_THREAD(run);
}

void ForeignTarget::send(const TargetRequest& request, std::uint64_t after_fs) {
  queue_.push_back({request, ctx_.clock.now_fs() + after_fs});
  if (style_ == Style::kBlockingAtOnce && idle_ == 0) spawn();
  ctx_.event_queue.notify(queued_, after_fs);
}

void ForeignTarget::spawn() {
  sc_core::sc_spawn([this] { run(); }, sc_core::sc_gen_unique_name("sender"));
}

std::uint64_t ForeignTarget::withdraw(const void* access) {
  const auto kept =
      std::remove_if(queue_.begin(), queue_.end(), [&](const WaitingAccess& w) { return w.request.access == access; });
  const auto count = static_cast<std::uint64_t>(queue_.end() - kept);
  queue_.erase(kept, queue_.end());
  return count;
}

const ForeignTarget::TargetRequest* ForeignTarget::open(std::uint64_t* sent_cycle) const {
  const auto found =
      std::find_if(pool_.begin(), pool_.end(), [](const auto& t) { return t->state != AccessState::kAnswered; });
  if (found == pool_.end()) return nullptr;
  *sent_cycle = (*found)->sent_cycle;
  return &(*found)->request;
}

void* ForeignTarget::access_of(tlm::tlm_generic_payload& payload) {
  const auto* const t = payload.get_extension<Transaction>();
  return t == nullptr || &t->payload != &payload ? nullptr : t->request.access;
}

void ForeignTarget::run() {
  while (true) {
    while (queue_.empty() || is_broken_) {
      ++idle_;
      sc_core::wait(queued_);
      --idle_;
    }
    const WaitingAccess next = queue_.front();
    queue_.pop_front();
    if (!queue_.empty() && style_ == Style::kBlockingAtOnce) {
      if (idle_ == 0) spawn();
      queued_.notify(sc_core::SC_ZERO_TIME);
    }
    const std::uint64_t now = sc_core::sc_time_stamp().value();
    if (next.time_fs > now) sc_core::wait(sc_core::sc_time::from_value(next.time_fs - now));
    Transaction& t = begin(next.request);
    if (style_ == Style::kPhases) {
      send_in_phases(t);
      continue;
    }
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    call(t, [&] { out_->b_transport(t.payload, delay); });
    if (style_ == Style::kBlocking) sending_ = &t;
    request_end_ = sc_core::sc_max_time();
    advance(t, tlm::BEGIN_RESP, delay);
    if (style_ == Style::kBlockingAtOnce) continue;
    while (is_broken_ || sc_core::sc_time_stamp() < request_end_) sc_core::wait(request_ended_);
    sending_ = nullptr;
  }
}

void ForeignTarget::send_in_phases(Transaction& t) {
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  request_end_ = sc_core::sc_max_time();
  sending_ = &t;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  tlm::tlm_sync_enum answer = tlm::TLM_ACCEPTED;
  call(t, [&] { answer = out_->nb_transport_fw(t.payload, phase, delay); });
  if (answer == tlm::TLM_COMPLETED) {
    advance(t, tlm::BEGIN_RESP, delay);
  } else if (answer == tlm::TLM_UPDATED) {
    t.owes_end_resp = phase == tlm::BEGIN_RESP;
    advance(t, phase, delay);
  }
  while (is_broken_ || sc_core::sc_time_stamp() < request_end_) sc_core::wait(request_ended_);
  sending_ = nullptr;
  if (t.owes_end_resp) end_response(t);
}

void ForeignTarget::end_response(Transaction& t) {
  tlm::tlm_phase phase = tlm::END_RESP;
  tlm::tlm_sync_enum answer = tlm::TLM_ACCEPTED;
  sc_core::sc_time none = sc_core::SC_ZERO_TIME;
  call(t, [&] { answer = out_->nb_transport_fw(t.payload, phase, none); });
  if (answer == tlm::TLM_UPDATED) {
    broken(&t, "returned TLM_UPDATED to END_RESP; allowed is TLM_ACCEPTED or TLM_COMPLETED");
  }
  t.owes_end_resp = false;
}

// Calls the target; an exception ends the run.
template <class Call>
void ForeignTarget::call(const Transaction& t, const Call& its_function) {
  try {
    its_function();
  } catch (const sc_core::sc_unwind_exception&) {  // this process is being terminated
    throw;
  } catch (...) {
    broken(&t, fmt::format("threw an exception {}", exception_text()));
  }
}

tlm::tlm_sync_enum ForeignTarget::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                  sc_core::sc_time& delay) {
  auto* const t = payload.get_extension<Transaction>();
  if (t == nullptr || &t->payload != &payload) {
    broken(nullptr, "sent a payload that it was not given");
    return tlm::TLM_ACCEPTED;
  }
  advance(*t, phase, delay);
  if (is_broken_ || phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  phase = tlm::END_RESP;
  return tlm::TLM_UPDATED;
}

// A phase takes effect after its delay. Phases outside the base protocol are ignored.
void ForeignTarget::advance(Transaction& t, const tlm::tlm_phase& phase, const sc_core::sc_time& delay) {
  if (is_broken_ || phase > tlm::END_RESP) return;
  const auto* const legal = std::find_if(std::begin(kLegal), std::end(kLegal),
                                         [&](const Transition& l) { return l.from == t.state && l.phase == phase; });
  if (legal == std::end(kLegal)) {
    return broken(&t, fmt::format("sent {} after {}; allowed is {}", phase.get_name(),
                                  kStateNames[static_cast<int>(t.state)], allowed_after(t.state)));
  }
  const std::uint64_t now = ctx_.clock.now_fs();
  if (delay.value() > UINT64_MAX - now - ctx_.clock.period_fs()) {
    return broken(&t, fmt::format("annotated a delay of {}; simulated time ends after 2^64 fs", delay.to_string()));
  }
  t.state = legal->to;
  if (&t == sending_) {
    request_end_ = std::min(request_end_, sc_core::sc_time_stamp() + delay);
    request_ended_.notify(delay);
  }
  if (t.state == AccessState::kAnswered)
    owner_.answered(t.request, t.payload.get_response_status(), now + delay.value());
}

std::string ForeignTarget::allowed_after(AccessState state) {
  std::string names;
  for (const Transition& l : kLegal) {
    if (l.from == state) names += (names.empty() ? "" : " or ") + std::string(tlm::tlm_phase(l.phase).get_name());
  }
  return names.empty() ? "nothing" : names;
}

// Stops sending; later phases of the target are ignored.
void ForeignTarget::broken(const Transaction* t, const std::string& what) {
  if (std::exchange(is_broken_, true)) return;
  owner_.broken(t == nullptr ? nullptr : &t->request, what);
}

// A payload is reused only after many others, so that a late response can be recognised.
ForeignTarget::Transaction& ForeignTarget::begin(const TargetRequest& request) {
  constexpr std::size_t kOthers = 1024;
  const auto ended = [](const Transaction& t) {
    return t.state == AccessState::kAnswered && t.payload.get_ref_count() <= 1;
  };
  if (pool_.size() > kOthers && ended(*pool_.front())) {
    pool_.push_back(std::move(pool_.front()));
    pool_.pop_front();
  } else {
    pool_.push_back(std::make_unique<Transaction>(static_cast<tlm::tlm_mm_interface*>(this)));
  }
  Transaction& t = *pool_.back();
  t.request = request;
  t.sent_cycle = ctx_.clock.now();
  t.state = AccessState::kRequested;
  fill_payload(t.payload, request.is_read ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND, request.address,
               request.data, request.bytes);
  return t;
}

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
    const auto next =
        std::min_element(answers_.begin(), answers_.end(),
                         [](const InitiatorResponse& a, const InitiatorResponse& b) { return a.time_fs < b.time_fs; });
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
  PassageAccess& hop = *free_hops_.back();
  free_hops_.pop_back();
  hop.payload = &payload;
  hop.sent = &managed(payload, hop.own);
  hop.former = hop.sent->get_extension<PendingAccess>();
  hop.response = response;
  if (!out.begin(*hop.sent, hop, delay)) return false;
  end(hop);
  return true;
}

void Passage::PassageAccess::responded(bool /*is_ok*/, const sc_core::sc_time& delay) {
  const Response to = response;
  owner.end(*this);
  to.send(delay);
}

void Passage::end(PassageAccess& hop) {
  hop.sent->set_extension(hop.former);
  hop.payload->set_response_status(hop.sent->get_response_status());
  free_hops_.push_back(&hop);
}

}  // namespace attnvp
