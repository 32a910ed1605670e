// Mailbox: a small memory on the control network through which the host hands jobs to firmware and firmware answers. It
// is separate from DRAM so that DRAM's counters show the traffic of tensors only. It has no latency of its own; an
// access costs the time of the control processor's bus.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include "models/memory/memory.h"
#include "models/memory/storage/paged_memory.h"

namespace attnvp {

class Mailbox : public Memory {
 public:
  Mailbox(sc_core::sc_module_name name, const ModuleContext& site);
  tlm::tlm_target_socket<>& in(std::uint32_t /*initiator*/) override { return in_; }
  bool is_approximately_timed() const override { return true; }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(tlm::tlm_generic_payload& payload);
  bool move(tlm::tlm_generic_payload& payload);

  tlm_utils::simple_target_socket<Mailbox> in_{"in"};
  std::uint64_t base_;
  PagedMemory memory_;
};

}  // namespace attnvp
