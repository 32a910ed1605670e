// What every control processor is, whatever its kind.
#pragma once

#include <tlm>

#include "models/module.h"
#include "models/place.h"

namespace attnvp {

class EventUnit;

class Processor : public Module {
 public:
  using Module::Module;
  virtual tlm::tlm_initiator_socket<>& bus() = 0;

  // Boots its firmware at the current time; finished() once that has come to its end.
  virtual void start() = 0;
  virtual bool finished() const = 0;
  virtual std::uint64_t finish_cycle() const = 0;
  // Its cluster's events, for interrupts.
  virtual void listen(EventUnit& /*events*/) {}
};

}  // namespace attnvp
