// What sets share whose rows are jobs of this platform: a machine, and a run in timing mode.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "explore/validate/data_set.h"
#include "platform/config/energy.h"
#include "platform/config/network.h"
#include "platform/job/job.h"

namespace attnvp::validate {

class JobSet : public DataSet {
 public:
  JobSet(const Options& options, const char* machine);
  std::string hardware() const override { return machine_.name; }

 protected:
  using Tiling = std::vector<std::pair<const char*, std::uint32_t>>;
  // A mistake is told at the row.
  static config::Network layer_of(const Row& row, const std::string& text);
  job::Result run(const MachineConfig& machine, const config::Network& layer, const std::string& dataflow,
                  const Tiling& tiling) const;
  static std::string note(const job::Result& result);  // where the time went

  MachineConfig machine_;
  config::EnergyTable energy_;
};

}  // namespace attnvp::validate
