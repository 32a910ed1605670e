// An engine's side of the hardware events: takes and gives a descriptor's tokens over its own socket.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <functional>
#include <utility>

#include "firmware/hal/descriptor.h"
#include "models/account/account.h"
#include "models/bus/stream.h"
#include "models/engine/descriptor_check.h"
#include "models/trace/journal.h"
#include "models/trace/signal.h"

namespace attnvp {

class EventPort {
 public:
  // Events are numbered within the cluster whose event unit starts at `base`.
  EventPort(const char* name, std::uint64_t base, std::uint32_t events) : out(name), base_(base), events_(events) {}

  tlm_utils::simple_initiator_socket<EventPort> out;

  // False when a fault elsewhere ended the wait, or on an event that does not exist.
  bool take(const hal::Descriptor& descriptor, Journal::Id id = Journal::kNobody);
  bool give(const hal::Descriptor& descriptor, Journal::Id id = Journal::kNobody);
  Refusal check(const hal::Descriptor& descriptor) const;  // whether its events exist
  // Number of the event being waited for, -1 while not waiting.
  int waiting_for() const { return waiting_; }
  // Tells the table who gives, and `taken` of every event that was taken for a descriptor.
  using Taken = std::function<void(std::uint64_t event, const hal::Descriptor& descriptor)>;
  void account_in(Givers& givers, Taken taken) {
    givers_ = &givers;
    taken_ = std::move(taken);
  }
  void show_waiting_in(Signal* signal) { signal_ = signal; }

 private:
  struct Access {
    OriginExtension origin;  // outlives the payload that it may be attached to
    tlm::tlm_generic_payload payload;
  };
  bool access(Access& access, std::uint64_t address, std::uint32_t tokens, Journal::Id id);

  std::uint64_t base_;
  std::uint32_t events_;
  int waiting_ = -1;
  Signal* signal_ = nullptr;
  Givers* givers_ = nullptr;
  Taken taken_;
  Access take_, give_;  // one may take, and be blocked, while another gives
};

}  // namespace attnvp
