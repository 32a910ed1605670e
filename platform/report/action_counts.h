// How often each instance did what costs energy, in the form of Accelergy's action_counts.
#pragma once

#include <string>

#include "platform/job/job.h"

namespace attnvp::report {

// YAML: every module with an action by its name in the hierarchy. Counts times the ERT's entries are the
// run's energy.
std::string action_counts_yaml(const job::Result& result);

}  // namespace attnvp::report
