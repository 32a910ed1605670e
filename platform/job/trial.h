// How many cycles schedules take, by timing runs on a machine of their own, whatever else is elaborated.
#pragma once

#include <cstdint>

#include "models/machine.h"
#include "platform/config/network.h"
#include "platform/job/elaborated.h"
#include "platform/job/schedule.h"

namespace attnvp::job {

class Trial {
 public:
  explicit Trial(const MachineConfig& machine) : elaborated_(machine, false) {}
  // Of a complete schedule, without the delays of `run --jitter`; 0 where that is more than time can tell. Throws
  // RunError.
  std::uint64_t cycles(const config::Network& network, const Schedule& schedule);

 private:
  Elaborated elaborated_;
};

}  // namespace attnvp::job
