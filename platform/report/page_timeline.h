// A timeline (attnvp run --timeline) as the report page wants it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace attnvp::report {

// {window, tracks, waits, power, names, details, slices}: names once, a slice a short array, tracks in natural order. A
// timeline of more slices than a page should carry has sums per window of time instead (page/gantt.js). Throws
// config::ConfigError: not a timeline, or not this run's.
nlohmann::ordered_json page_timeline(const std::string& path, const nlohmann::ordered_json& run);

}  // namespace attnvp::report
