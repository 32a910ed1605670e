// Action counts of each instance, in the format of Accelergy's action_counts.
#pragma once

#include <string>

#include "platform/run/job.h"

namespace attnvp::report {

// YAML: every module with actions, by its hierarchical name. Counts times the entries of the ERT give the run's energy.
std::string action_counts_yaml(const job::RunResult& result);

}  // namespace attnvp::report
