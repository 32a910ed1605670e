// Runs as a CSV table, one row each.
#pragma once

#include <string>
#include <vector>

namespace attnvp::report {

// Table of JSON reports: every scalar, in order of the reports, with the column names of sweeps ("energy_pj.total");
// empty if a run lacks it. Lists, counters and stall attribution are omitted.
std::string runs_csv(const std::vector<std::string>& reports);

}  // namespace attnvp::report
