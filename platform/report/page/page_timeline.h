// Converts a timeline (attnvp run --timeline) for the report page.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace attnvp::report {

// {window, tracks, waits, power, names, details, slices}: unique names, slices as short arrays, tracks in natural
// order. Timelines with too many slices have sums per time window instead (page/gantt.js). Throws config::ConfigError:
// not a timeline, or not of this run.
nlohmann::ordered_json page_timeline(const std::string& path, const nlohmann::ordered_json& run);

}  // namespace attnvp::report
