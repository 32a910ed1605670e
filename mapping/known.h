// What has been found of a job's schedules, which its choices share: one that comes by another one's schedule looks at
// nothing again.
#pragma once

#include <cstddef>
#include <map>

#include "mapping/candidates.h"
#include "mapping/estimate.h"

namespace attnvp::mapping {

struct Known {
  struct Look {
    Estimate estimate;
    double enough = 0;  // it was looked at no further
    bool serves(double as_enough) const { return estimate.cycles < enough || enough >= as_enough; }
  };
  std::map<Words, Need> needs;
  std::map<Words, std::map<std::size_t, Look>> looks;  // by how many commands
};

}  // namespace attnvp::mapping
