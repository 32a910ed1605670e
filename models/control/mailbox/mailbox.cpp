#include <tlm_utils/simple_target_socket.h>

#include <cstring>

#include "models/interconnect/bus/initiator.h"
#include "models/memory/memory.h"
#include "models/memory/storage/paged_memory.h"
#include "models/registry.h"

namespace attnvp {

// Mailbox: a small memory on the control network through which the host hands jobs to firmware and firmware answers. It
// is separate from DRAM so that DRAM's counters show the traffic of tensors only. It has no latency of its own; an
// access costs the time of the control processor's bus.
class Mailbox : public Memory {
 public:
  Mailbox(sc_core::sc_module_name name, const ModuleContext& module_context);
  tlm::tlm_target_socket<>& in(std::uint32_t /*initiator*/) override { return in_; }
  bool is_approximately_timed() const override { return true; }
  bool visit_state(sim::StateVisitor& /*visitor*/) override { return true; }  // accesses end a period

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(tlm::tlm_generic_payload& payload);
  bool move(tlm::tlm_generic_payload& payload);

  tlm_utils::simple_target_socket<Mailbox> in_{"in"};
  std::uint64_t base_;
  PagedMemory memory_;
};

namespace {
const bool kMailboxRegistered =
    add_kind<Memory>({"mailbox", "model", "is in SystemC", {}, [](const ModuleContext& module_context) {
                        return std::make_unique<Mailbox>(module_context.name, module_context);
                      }});
}  // namespace

Mailbox::Mailbox(sc_core::sc_module_name name, const ModuleContext& module_context)
    : Memory(name, module_context.context), base_(module_context.base), memory_(module_context.size_bytes) {
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
