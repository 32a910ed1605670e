// Runs as one page to look at: HTML that holds everything it shows, charts by Chart.js.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace attnvp::report {

// The runs of one file of `attnvp run --json` (an object) or `attnvp compare --json` (an array), as the page wants
// them: with the timeline that the run names, looked for beside the file. Throws config::ConfigError for a file that is
// none.
std::vector<nlohmann::ordered_json> page_runs(const std::string& path);

// Labels the runs by what differs between them and makes the page.
std::string page(std::vector<nlohmann::ordered_json> runs);

}  // namespace attnvp::report
