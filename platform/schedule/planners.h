// Planners for the commands of a cluster's engines.
#pragma once

#include <cstdint>
#include <vector>

#include "models/engine/mac_engine/mac_plan.h"
#include "models/engine/vec_engine/vec_plan.h"
#include "models/machine.h"
#include "models/memory/config.h"

namespace attnvp::schedule {

// One for each core, as tiles stay in an array between commands.
inline std::vector<MacPlanner> mac_planners(const MachineConfig& m, std::uint32_t clusters = 1) {
  std::vector<MacPlanner> planners;
  planners.reserve(std::size_t{clusters} * m.cores);
  for (std::uint32_t i = 0; i < clusters * m.cores; ++i) planners.emplace_back(m.core(i % m.cores).mac);
  return planners;
}
// One for each core, or one if cores are equal.
inline std::vector<VecPlanner> vec_planners(const MachineConfig& m) {
  std::vector<VecPlanner> planners;
  for (std::uint32_t k = 0; k < (m.has_equal_cores() ? 1 : m.cores); ++k) {
    const CoreConfig core = m.core(k);
    planners.emplace_back(core.vec, l0_share_bytes(core.l0.size_bytes));
  }
  return planners;
}

}  // namespace attnvp::schedule
