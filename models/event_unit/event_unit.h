// One cluster's hardware events: counting semaphores at kEventStride intervals. Signalling adds tokens, taking stalls
// the bus access until enough tokens are there. Any initiator may use any event, those of other clusters included.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <memory>
#include <vector>

#include "models/machine.h"
#include "models/module.h"
#include "models/wake.h"

namespace attnvp {

class EventUnit : public Module {
 public:
  EventUnit(sc_core::sc_module_name name, Context& context, const EventUnitConfig& config, std::uint64_t base);

  tlm_utils::simple_target_socket<EventUnit> in{"in"};

  std::uint32_t count() const { return static_cast<std::uint32_t>(slots_.size()); }
  std::uint32_t count(std::uint32_t event) const { return slots_.at(event).tokens; }
  void reset() override;
  // Notified whenever there are other tokens.
  void tell(sc_core::sc_event* listener) { listener_ = listener; }

  Counter signals{*this, "signals", "accesses", "tokens given", {"attnvp.events", "signal", true}};
  Counter takes{*this, "takes", "accesses", "tokens taken", {"attnvp.events", "take", true}};

 private:
  struct Slot {
    std::uint32_t tokens = 0;
    Wake changed;
    std::unique_ptr<Signal> signal;
  };
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(tlm::tlm_generic_payload& payload);
  bool take(Slot& slot, std::uint32_t tokens);
  void set(Slot& slot, std::uint32_t tokens);

  std::uint64_t base_;
  std::vector<Slot> slots_;
  sc_core::sc_event* listener_ = nullptr;
};

// What a processor does that stands at this access: "waits for event 3", or at which address it is stalled.
std::string stalled_at(std::uint64_t address);

}  // namespace attnvp
