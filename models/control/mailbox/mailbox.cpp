#include "models/control/mailbox/mailbox.h"

#include <cstring>

#include "models/interconnect/bus/initiator.h"
#include "models/registry.h"

namespace attnvp {

namespace {
const bool kRegistered = add_kind<Memory>({"mailbox", "model", "is in SystemC", {}, [](const ModuleContext& site) {
                                             return std::make_unique<Mailbox>(site.name, site);
                                           }});
}  // namespace

Mailbox::Mailbox(sc_core::sc_module_name name, const ModuleContext& site)
    : Memory(name, site.context), base_(site.base), memory_(site.size_bytes) {
  in_.register_b_transport(this, &Mailbox::b_transport);
  in_.register_transport_dbg(this, &Mailbox::transport_dbg);
}

void Mailbox::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  arrive(ctx_.event_queue, delay);
  payload.set_response_status(move(payload) ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

unsigned Mailbox::transport_dbg(tlm::tlm_generic_payload& payload) {
  return move(payload) ? payload.get_data_length() : 0;
}

bool Mailbox::move(tlm::tlm_generic_payload& payload) {
  const std::uint64_t bytes = payload.get_data_length();
  const std::uint64_t offset = payload.get_address() - base_;
  if (payload.get_byte_enable_ptr() != nullptr || offset > memory_.size() || bytes > memory_.size() - offset) {
    return false;
  }
  if (payload.is_read()) std::memcpy(payload.get_data_ptr(), memory_.data() + offset, bytes);
  if (payload.is_write()) std::memcpy(memory_.data() + offset, payload.get_data_ptr(), bytes);
  return true;
}

}  // namespace attnvp
