// Interface of event units of all kinds: the hardware events of one cluster, at kEventStride intervals
// (firmware/hal/registers.h). Any initiator may use the events of any cluster.
#pragma once

#include <cstdint>
#include <string>
#include <tlm>

#include "models/sim/module.h"
#include "models/slot.h"

namespace attnvp {

class EventUnit : public Module {
 public:
  using Module::Module;
  virtual tlm::tlm_target_socket<>& in() = 0;
  virtual std::uint32_t count() const = 0;  // number of events
  virtual std::uint32_t tokens(std::uint32_t event) const = 0;
  // `listener` is notified whenever a number of tokens changes.
  virtual void tell(sim::Condition* listener) = 0;
};

// Text for deadlock reports on a processor stalled at this address: "waits for event 3", or the address.
std::string stalled_at(std::uint64_t address);

}  // namespace attnvp
