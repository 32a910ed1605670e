// Runs as a table, a row each.
#pragma once

#include <string>
#include <vector>

namespace attnvp::report {

// From the JSON reports of runs: every single value, in the order of the reports, under the names that sweeps' columns
// have
// ("energy_pj.total"); empty where a run has none. Lists, what each module counted and what each engine waited for are
// left out.
std::string runs_csv(const std::vector<std::string>& reports);

}  // namespace attnvp::report
