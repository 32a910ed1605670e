// An engine's side of the hardware events: takes and gives a descriptor's tokens over its own socket.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include "firmware/hal/descriptor.h"
#include "models/bus/stream.h"

namespace attnvp {

class EventPort {
 public:
  // Events are numbered within the cluster whose event unit starts at `base`.
  EventPort(const char* name, std::uint64_t base, std::uint32_t events) : out(name), base_(base), events_(events) {}

  tlm_utils::simple_initiator_socket<EventPort> out;

  // False when a fault elsewhere ended the wait, or on an event that does not exist.
  bool take(const hal::Descriptor& descriptor);
  bool give(const hal::Descriptor& descriptor);
  bool valid(const hal::Descriptor& descriptor) const;
  // Number of the event being waited for, -1 while not waiting.
  int waiting_for() const { return waiting_; }

 private:
  bool access(std::uint64_t base, std::uint32_t event, std::uint64_t reg, std::uint32_t tokens);

  std::uint64_t base_;
  std::uint32_t events_;
  int waiting_ = -1;
};

}  // namespace attnvp
