// One cluster's hardware events: counting semaphores at kEventStride intervals. Signalling adds tokens, taking stalls
// the bus access until enough tokens are there. Any initiator may use any event, those of other clusters included.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <deque>
#include <memory>
#include <vector>

#include "models/bus/payload.h"
#include "models/bus/transport.h"
#include "models/machine.h"
#include "models/module.h"

namespace attnvp {

class EventUnit : public Module {
 public:
  EventUnit(sc_core::sc_module_name name, Context& context, const EventUnitConfig& config, std::uint64_t base);

  tlm_utils::simple_target_socket<EventUnit> in{"in"};

  std::uint32_t count() const { return static_cast<std::uint32_t>(slots_.size()); }
  std::uint32_t count(std::uint32_t event) const { return slots_.at(event).tokens; }
  void reset() override;
  // Notified whenever there are other tokens.
  void tell(sim::Condition* listener) { listener_ = listener; }

  Counter signals{*this, "signals", "accesses", "tokens given", {"attnvp.events", "signal", true}};
  Counter takes{*this, "takes", "accesses", "tokens taken", {"attnvp.events", "take", true}};

 private:
  // An approximately timed access that waits for its tokens.
  struct Taker {
    std::uint32_t tokens;
    tlm::tlm_generic_payload* payload;
    std::uint64_t origin;  // descriptor
  };
  struct Slot {
    Slot(EventUnit& unit, sim::EventQueue& event_queue, std::uint64_t its_address)
        : owner(unit),
          address(its_address),
          changed(event_queue),
          serve(event_queue, sim::Callback::of<&Slot::serve_takers>(this)) {}
    void serve_takers() { owner.serve(*this); }
    EventUnit& owner;
    std::uint64_t address;
    std::uint32_t tokens = 0;
    sim::Condition changed;     // threads wait for it
    std::vector<Taker> takers;  // first come, first served, of those for whom there are enough
    sim::Event serve;
    std::unique_ptr<Signal> signal;
  };
  // An approximately timed access that is annotated to come later.
  struct Late {
    explicit Late(EventUnit& unit) : owner(unit), step(unit.ctx_.event_queue, sim::Callback::of<&Late::arrive>(this)) {}
    void arrive() { owner.serve(*this); }
    EventUnit& owner;
    sim::Event step;
    tlm::tlm_generic_payload* payload = nullptr;
  };
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  bool access(tlm::tlm_generic_payload& payload, bool may_wait);
  void postpone(tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay);
  void serve(Late& late);
  void respond(tlm::tlm_generic_payload& payload);
  unsigned transport_dbg(tlm::tlm_generic_payload& payload);
  bool take(Slot& slot, std::uint32_t tokens, std::uint64_t origin);
  void serve(Slot& slot);
  void took(Slot& slot, std::uint32_t tokens, std::uint64_t origin);
  void set(Slot& slot, std::uint32_t tokens);

  std::uint64_t base_;
  std::deque<Slot> slots_;
  std::deque<Late> all_late_;
  std::vector<Late*> free_late_;
  sim::Condition* listener_ = nullptr;
};

// What a processor does that stands at this access: "waits for event 3", or at which address it is stalled.
std::string stalled_at(std::uint64_t address);

}  // namespace attnvp
