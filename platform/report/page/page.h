// Report page of runs: one self-contained HTML file with charts by Chart.js.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace attnvp::report {

// Runs of a file of `attnvp run --json` (an object) or `attnvp compare --json` (an array), each with the timeline file
// that it names, relative to the file. Throws config::ConfigError for other files.
std::vector<nlohmann::ordered_json> page_runs(const std::string& path);

// Adds the sums that the page needs to a run's JSON, and removes long members that it does not show.
void prepare_for_page(nlohmann::ordered_json& run);

// Labels the runs by their differences and generates the page.
std::string page(std::vector<nlohmann::ordered_json> runs);

}  // namespace attnvp::report

namespace attnvp::report::page_files {

// Files of report pages, embedded by the build (cmake/embed.cmake).
extern const std::string_view css, common, chart;  // for every page: style, common script, chart library
extern const std::string_view plots;               // for pages of runs: time and roofline
extern const std::string_view html, gantt, script;

}  // namespace attnvp::report::page_files

namespace attnvp::report {

// Unique texts, numbered in order of appearance.
class TextTable {
 public:
  std::size_t of(const std::string& text) {
    const auto [known, is_new] = numbers_.emplace(text, texts_.size());
    if (is_new) texts_.push_back(text);
    return known->second;
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::map<std::string, std::size_t> numbers_;
  std::vector<std::string> texts_;
};

// Timeline (attnvp run --timeline) in the form of the report page:
// {window, tracks, waits, power, names, details, slices}: unique names, slices as short arrays, tracks in natural
// order. Timelines with too many slices have sums per time window instead (page/gantt.js). Throws config::ConfigError:
// not a timeline, or not of this run.
nlohmann::ordered_json page_timeline(const std::string& path, const nlohmann::ordered_json& run);

}  // namespace attnvp::report
