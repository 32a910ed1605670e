// Event unit with counting semaphores. Signalling adds tokens. Taking stalls the bus access until enough tokens are
// there.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <deque>
#include <memory>
#include <vector>

#include "models/control/event_unit/event_unit.h"
#include "models/interconnect/bus/payload.h"
#include "models/interconnect/bus/transport.h"

namespace attnvp {

class SemaphoreUnit : public EventUnit {
 public:
  SemaphoreUnit(sc_core::sc_module_name name, const ModuleContext& site);

  tlm::tlm_target_socket<>& in() override { return in_; }
  bool is_approximately_timed() const override { return true; }
  std::uint32_t count() const override { return static_cast<std::uint32_t>(slots_.size()); }
  std::uint32_t tokens(std::uint32_t event) const override { return slots_.at(event).tokens; }
  void tell(sim::Condition* listener) override { listener_ = listener; }
  void reset() override;

  Counter signals{*this, "signals", "accesses", "tokens given", {"attnvp.events", "signal", true}};
  Counter takes{*this, "takes", "accesses", "tokens taken", {"attnvp.events", "take", true}};

 private:
  // AT transaction that waits for tokens.
  struct Taker {
    std::uint32_t tokens;
    tlm::tlm_generic_payload* payload;
    std::uint64_t origin;  // id of the descriptor
  };
  struct Slot {
    Slot(SemaphoreUnit& unit, sim::EventQueue& event_queue, std::uint64_t its_address)
        : owner(unit),
          address(its_address),
          changed(event_queue),
          serve(event_queue, sim::Callback::of<&Slot::serve_takers>(this)) {}
    void serve_takers() { owner.serve(*this); }
    SemaphoreUnit& owner;
    std::uint64_t address;
    std::uint32_t tokens = 0;
    sim::Condition changed;     // for threads
    std::vector<Taker> takers;  // first come, first served, among those with enough tokens
    sim::Event serve;
    std::unique_ptr<Signal> signal;
  };
  // AT transaction with an annotated delay, executed at its time.
  struct Late {
    explicit Late(SemaphoreUnit& unit)
        : owner(unit), step(unit.ctx_.event_queue, sim::Callback::of<&Late::arrive>(this)) {}
    void arrive() { owner.serve(*this); }
    SemaphoreUnit& owner;
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

  tlm_utils::simple_target_socket<SemaphoreUnit> in_{"in"};
  std::uint64_t base_;
  std::deque<Slot> slots_;
  std::deque<Late> all_late_;
  std::vector<Late*> free_late_;
  sim::Condition* listener_ = nullptr;
};

}  // namespace attnvp
