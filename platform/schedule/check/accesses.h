// What a command reads and writes, by its engine's own plan; or why the engine would refuse it.
#pragma once

#include <vector>

#include "models/dma_controller/copy_check.h"
#include "models/mac_engine/mac_plan.h"
#include "models/vec_engine/vec_plan.h"
#include "platform/schedule/check/trace.h"

namespace attnvp::schedule::check {

class Accesses {
 public:
  explicit Accesses(const MachineConfig& machine);
  // Of a cluster's next command in that queue, in the queue's order: tiles stay in an array between two commands.
  Refusal of(std::uint32_t cluster, const Queue& queue, const hal::Descriptor& command, Step& step,
             std::vector<Access>& accesses);

 private:
  Refusal of_copy(std::uint32_t cluster, const hal::Descriptor& command, Step& step,
                  std::vector<Access>& accesses) const;
  Refusal of_engine(std::uint32_t cluster, const Queue& queue, const hal::Descriptor& command, Step& step,
                    std::vector<Access>& accesses);
  Refusal check_events(const hal::Descriptor& command) const;

  const MachineConfig& machine_;
  AddressMap memories_;
  std::vector<MacPlanner> mac_;  // of every core
  std::vector<VecPlanner> vec_;  // of each core, or of equal ones
};

}  // namespace attnvp::schedule::check
