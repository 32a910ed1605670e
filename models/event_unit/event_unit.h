// What every event unit is, whatever its kind: one cluster's hardware events, at kEventStride intervals
// (firmware/hal/registers.h). Any initiator may use any event, those of other clusters included.
#pragma once

#include <cstdint>
#include <string>
#include <tlm>

#include "models/module.h"
#include "models/place.h"

namespace attnvp {

class EventUnit : public Module {
 public:
  using Module::Module;
  virtual tlm::tlm_target_socket<>& in() = 0;
  virtual std::uint32_t count() const = 0;  // events
  virtual std::uint32_t tokens(std::uint32_t event) const = 0;
  // Notified whenever there are other tokens.
  virtual void tell(sim::Condition* listener) = 0;
};

// What a processor does that stands at this access: "waits for event 3", or at which address it is stalled.
std::string stalled_at(std::uint64_t address);

}  // namespace attnvp
