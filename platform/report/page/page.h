// Report page of runs: one self-contained HTML file with charts by Chart.js.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace attnvp::report {

// Runs of a file of `attnvp run --json` (an object) or `attnvp compare --json` (an array), each with the timeline file
// that it names, relative to the file. Throws config::ConfigError for other files.
std::vector<nlohmann::ordered_json> page_runs(const std::string& path);

// Labels the runs by their differences and generates the page.
std::string page(std::vector<nlohmann::ordered_json> runs);

}  // namespace attnvp::report
