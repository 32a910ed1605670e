#include "models/interconnect/interconnect.h"

namespace attnvp {

tlm::tlm_target_socket<>& Interconnect::add_initiator(const std::string& name, int cluster) {
  auto socket = std::make_unique<tlm_utils::simple_target_socket_tagged<Interconnect>>(("in_" + name).c_str());
  const int tag = static_cast<int>(in_.size());
  socket->register_b_transport(this, &Interconnect::b_transport, tag);
  socket->register_transport_dbg(this, &Interconnect::transport_dbg, tag);
  in_.push_back(std::move(socket));
  initiator_cluster_.push_back(cluster);
  listeners_.push_back(nullptr);
  return *in_.back();
}

tlm_utils::simple_initiator_socket<Interconnect>& Interconnect::add_target(AddressRange range, int cluster) {
  const std::string name = "out" + std::to_string(out_.size());
  map_.add(std::move(range));
  target_cluster_.push_back(cluster);
  out_.push_back(std::make_unique<tlm_utils::simple_initiator_socket<Interconnect>>(name.c_str()));
  return *out_.back();
}

void Interconnect::tell(const std::string& initiator, Listener* listener) {
  for (std::size_t i = 0; i < in_.size(); ++i) {
    if (in_[i]->basename() == "in_" + initiator) listeners_[i] = listener;
  }
}

void Interconnect::b_transport(int initiator, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  if (Listener* const listener = listeners_[static_cast<std::size_t>(initiator)]) listener->heard(payload);
  const int target = map_.find(payload.get_address());
  if (target < 0) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  carried += 1;
  carried_bytes += payload.get_data_length();
  carry(initiator, target, payload, delay);
}

unsigned Interconnect::transport_dbg(int /*initiator*/, tlm::tlm_generic_payload& payload) {
  const int target = map_.find(payload.get_address());
  return target < 0 ? 0 : (*out_[static_cast<std::size_t>(target)])->transport_dbg(payload);
}

}  // namespace attnvp
