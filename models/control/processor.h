// Interface of all control processors.
#pragma once

#include <tlm>

#include "models/sim/module.h"
#include "models/slot.h"

namespace attnvp {

class EventUnit;

class Processor : public Module {
 public:
  using Module::Module;
  virtual tlm::tlm_initiator_socket<>& bus() = 0;

  // Boots the firmware at the current time. finished() is true after the firmware has ended.
  virtual void start() = 0;
  virtual bool finished() const = 0;
  virtual std::uint64_t finish_cycle() const = 0;
  // Connects the events of the cluster, for interrupts.
  virtual void listen(EventUnit& /*events*/) {}
};

}  // namespace attnvp
