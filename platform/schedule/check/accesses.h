// Memory accesses of a command by its engine's own planner, or the reason why the engine refuses it.
#pragma once

#include <vector>

#include "models/engine/dma_controller/transfer.h"
#include "models/engine/mac_engine/mac_plan.h"
#include "models/engine/vec_engine/vec_plan.h"
#include "platform/schedule/check/trace.h"

namespace attnvp::schedule::check {

class Accesses {
 public:
  explicit Accesses(const MachineConfig& machine);
  // Accesses of a cluster's next command in a queue; call in queue order, as tiles stay in an array between commands.
  Refusal of(std::uint32_t cluster, const Queue& queue, const hal::Descriptor& command, TraceStep& step,
             std::vector<Access>& accesses);

 private:
  Refusal of_copy(std::uint32_t cluster, const hal::Descriptor& command, TraceStep& step,
                  std::vector<Access>& accesses) const;
  Refusal of_engine(std::uint32_t cluster, const Queue& queue, const hal::Descriptor& command, TraceStep& step,
                    std::vector<Access>& accesses);
  Refusal check_events(const hal::Descriptor& command) const;

  const MachineConfig& machine_;
  AddressMap memories_;
  std::vector<MacPlanner> mac_;  // one for each core
  std::vector<VecPlanner> vec_;  // one for each core, or one if cores are equal
};

}  // namespace attnvp::schedule::check
