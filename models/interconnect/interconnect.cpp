#include "models/interconnect/interconnect.h"

#include <algorithm>

#include "models/registry.h"

namespace attnvp {

tlm::tlm_target_socket<>& Interconnect::add_initiator(const std::string& name, int cluster) {
  in_.push_back(std::make_unique<In>(*this, static_cast<int>(in_.size()), cluster, "in_" + name));
  return in_.back()->socket;
}

InitiatorSocket& Interconnect::add_target(AddressRange range, int cluster) {
  map_.add(std::move(range));
  out_.push_back(std::make_unique<Out>("out" + std::to_string(out_.size()), cluster));
  return out_.back()->socket;
}

void Interconnect::tell(const std::string& initiator, Listener* listener) {
  for (const auto& in : in_) {
    if (in->socket.basename() == "in_" + initiator) in->listener = listener;
  }
}

bool Interconnect::has_listener() const {
  return std::any_of(in_.begin(), in_.end(), [](const auto& in) { return in->listener != nullptr; });
}

Interconnect::In::In(Interconnect& its_owner, int its_number, int its_cluster, const std::string& name)
    : owner(its_owner), number(its_number), cluster(its_cluster), socket(name.c_str()) {
  socket.bind(*this);
}

int Interconnect::In::target_of(tlm::tlm_generic_payload& payload) {
  if (listener != nullptr) listener->heard(payload);
  const int target = owner.map_.find(payload.get_address());
  if (target < 0) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return target;
  }
  owner.carried += 1;
  owner.carried_bytes += payload.get_data_length();
  return target;
}

tlm::tlm_sync_enum Interconnect::In::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                     sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_COMPLETED;  // END_RESP
  const int target = target_of(payload);
  if (target < 0 || owner.begin(number, target, payload, delay)) return tlm::TLM_COMPLETED;
  return accept(phase, delay);
}

void Interconnect::In::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const int target = target_of(payload);
  if (target >= 0) owner.carry(number, target, payload, delay);
}

unsigned Interconnect::In::transport_dbg(tlm::tlm_generic_payload& payload) {
  const int target = owner.map_.find(payload.get_address());
  return target < 0 ? 0 : owner.out_[static_cast<std::size_t>(target)]->socket->transport_dbg(payload);
}

bool Interconnect::begin(int initiator, int target, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  if (free_hops_.empty()) free_hops_.push_back(hops_.emplace_back(std::make_unique<Hop>(*this)).get());
  Hop& hop = *free_hops_.back();
  free_hops_.pop_back();
  hop.initiator = initiator;
  hop.payload = &payload;
  hop.former = payload.get_extension<PendingAccess>();
  if (!socket_at(target).begin(payload, hop, delay)) return false;
  payload.set_extension(hop.former);
  free_hops_.push_back(&hop);
  return true;
}

void Interconnect::Hop::responded(bool /*is_ok*/, const sc_core::sc_time& delay) {
  payload->set_extension(former);
  owner.free_hops_.push_back(this);
  owner.respond(initiator, *payload, delay);
}

// Interconnect of kind `ideal`: a full crossbar without its own time. Accesses cost bus cycles at the control processor
// and bandwidth at DRAM.

namespace {

class IdealInterconnect : public Interconnect {
 public:
  using Interconnect::Interconnect;
  bool is_approximately_timed() const override { return true; }
  bool visit_state(sim::StateVisitor& visitor) override {
    visit_counters(visitor);
    return !has_listener();
  }

 private:
  void carry(int /*initiator*/, int target, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
    send(target, payload, delay);
  }
};

const bool kInterconnectRegistered =
    add_kind<Interconnect>({"interconnect",
                            "ideal",
                            "is a full crossbar without time of its own",
                            {},
                            [](const ModuleContext& module_context) {
                              return std::make_unique<IdealInterconnect>(module_context.name, module_context.context);
                            }});

}  // namespace

}  // namespace attnvp
