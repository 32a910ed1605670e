// Studies of `attnvp reproduce`: the papers' experiments on this platform. A study runs the experiments; its report has
// cells (our number and, if printed, the paper's) and sections of text and tables. Text, page, JSON and CSV are written
// from the report. They do not depend on host or data mode, except for "golden" in JSON. The papers' values are under
// configs/paper.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "explore/layers/tuned_runner.h"
#include "platform/machine/document.h"
#include "platform/streaming/stream_run.h"

namespace attnvp::papers {

// A number with its origin.
struct Cell {
  // "cycles", "speedup", "energy_pj" or "saving_percent"; prefix "best_" for dataflows with best tiling.
  std::string quantity;
  std::string network;  // or "geomean" of the rows, or "geomean_printed"
  std::string dataflow;
  double paper = 0, ours = 0;   // paper 0: not printed
  std::string why = {};         // reason of a noteworthy difference in cycles or energy
  std::string schedule = {};    // the dataflow with its options, if different from `dataflow`
  std::string calibrated = {};  // machine key that was calibrated with this cell, which is then not a prediction

  double ratio() const { return ours / paper; }
  std::string ratio_text(const char* format) const;  // followed by `*` if noteworthy
};
inline const std::string kFlat = "flat";  // reference dataflow of several papers
using Names = std::vector<std::string>;
using Case = std::pair<std::string, std::string>;                              // network (or claim) and dataflow
std::vector<Case> column(const Names& networks, const std::string& dataflow);  // of a table
using CaseText = std::function<std::string(const Case&)>;
using CellText = std::function<std::string(const Cell&)>;
std::map<Case, Cell> cells_of(const std::vector<Cell>& all, const std::string& quantity);

constexpr double kNoteworthy = 0.10;  // relative difference above which a reason is given
bool noteworthy(double ratio);

// Text of a cell: the paper's value and ours in `unit`, ours / paper with `*` if noteworthy, and `c` if calibrated.
// Only ours if the paper has none.
struct CellForm {
  const char *paper, *ours, *ratio = nullptr;  // formats of fmt; nullptr: no ratio
  double unit = 1;
  std::string operator()(const Cell& cell) const;
};
constexpr CellForm kSpeedups{"{:.2f}x", "{:.2f}x"};

struct Section {
  std::string title = {};
  std::string lead = {};   // description of the table
  Names columns = {};      // none: no table
  std::size_t left = 1;    // number of leading text columns; the others are numbers
  bool text_last = false;  // the last column is also text
  std::vector<Names> rows = {};
  Names notes = {};         // list below the table
  std::string figure = {};  // file name in Markdown, above the section

  // Adds the columns `across`, of the rows `down`, which are created if there are none; `cell` takes row and column.
  void grid(const Names& down, const Names& across, const CaseText& cell);
  // The same for the cells of a quantity, networks down, dataflows across; missing cells are empty.
  void pivot(const std::map<Case, Cell>& cells, const Names& networks, const Names& dataflows, const CellText& cell);
};

struct StudyReport {
  std::string heading, closing;  // of the text
  std::string title;             // of the page
  Names introduction;            // paragraphs of the page
  Names hardware;
  std::vector<Section> sections;
  std::vector<Cell> cells;
  std::size_t checked = 0;  // runs with a golden check
  Names failures;           // failed checks
  struct Plot {
    std::string suffix, svg;  // NAME-SUFFIX.svg next to NAME.md
  };
  std::vector<Plot> plots;

  // Counts the golden check of a run.
  template <class Golden>
  void check(const std::string& run, const Golden& golden) {
    ++checked;
    if (!golden.passed) failures.push_back(fmt::format("{}: golden check failed: {}", run, golden.to_string()));
  }
};
std::string to_text(const StudyReport& report);
std::string to_markdown(const StudyReport& report);
std::string to_json(const StudyReport& report);
std::string to_csv(const StudyReport& report);

using StudyProgress = std::function<void(const std::string& what)>;  // called before each run

// Reports of the papers; throw config::ConfigError and job::RunError. mas: `full_data` enables the golden check of
// every run; `all` adds the longest sequences and the control study. streaming: plots are STEM-SUFFIX.svg.
StudyReport mas(const std::string& hardware, bool full_data, bool all, const StudyProgress& progress);
StudyReport fusemax(std::uint32_t longest, const StudyProgress& progress);
StudyReport lean(const std::string& hardware, const StudyProgress& progress);
StudyReport streaming(std::uint32_t longest, const std::string& stem, const StudyProgress& progress);

// A table under configs/paper; the first line has the column names. Throws config::ConfigError with file and line.
std::vector<config::CsvLine> read_table(const std::string& name);
// A table of three columns: claim, of what, and value.
std::map<Case, double> read_claims(const std::string& name);
inline double claim_of(const std::map<Case, double>& claims, const std::string& what, const std::string& of) {
  const auto found = claims.find({what, of});
  return found == claims.end() ? 0 : found->second;
}

std::string times(double ratio);                // "1.73x"
std::string bytes_text(double bytes);           // "4.2 MB"
std::string tokens_text(std::uint32_t tokens);  // 65536 -> "64K"

// Arithmetic mean of a value of each element; 0 without elements.
template <class Elements, class Value>
double mean_of(const Elements& elements, const Value& value) {
  double sum = 0;
  for (const auto& element : elements) sum += value(element);
  return sum / static_cast<double>(std::max<std::size_t>(elements.size(), 1));
}
template <class Elements, class Value>
double geometric_mean(const Elements& elements, const Value& value) {
  return std::exp(mean_of(elements, [&value](const auto& element) { return std::log(value(element)); }));
}
struct Range {
  double least = HUGE_VAL, most = -HUGE_VAL;
  void include(double x) {
    least = std::min(least, x);
    most = std::max(most, x);
  }
};
template <class Elements, class Value>
Range range_of(const Elements& elements, const Value& value) {
  Range range;
  for (const auto& element : elements) range.include(value(element));
  return range;
}

// In timing mode, with the machine's energy table.
explore::TunedRunner timing_runner(const MachineConfig& machine);
// Runs every network under every dataflow on a machine.
std::map<Case, job::RunResult> run_all(const MachineConfig& machine, const Names& networks, const Names& dataflows,
                                       const StudyProgress& progress);

// Streaming SDPA study: streaming graphs over sequence lengths and over depths of the long FIFO.

inline const std::string kNaive = "naive", kMemoryFree = "memory-free", kSafeSoftmax = "safe-softmax";

struct StreamingPoint {
  std::string graph;
  std::uint32_t n = 0;
  stream::StreamResult result;
  std::uint64_t paper_cycles = 0;  // 0: not stated
};

struct DepthPoint {
  std::uint64_t depth = 0;
  bool deadlocked = false;
  std::uint64_t cycles = 0;
  std::uint64_t paper_cycles = 0;
};

// FIFO depths needed by the naive graph at one N.
struct Threshold {
  std::uint32_t n = 0;
  bool unit_times = false;      // all latencies and initiation intervals are 1
  std::uint64_t runs_from = 0;  // smallest depth without deadlock, and its cycles
  std::uint64_t slowest_cycles = 0;
  std::uint64_t full_rate_from = 0;  // smallest depth at full rate, and its cycles
  std::uint64_t full_rate_cycles = 0;
};

struct StreamingStudy {
  std::vector<StreamingPoint> points;  // by graph, N ascending
  std::uint32_t sweep_n = 64;
  std::vector<DepthPoint> sweep;  // depth ascending
  std::vector<Threshold> thresholds;

  const StreamingPoint& at(const std::string& graph, std::uint32_t n) const;
  std::vector<const StreamingPoint*> of(const std::string& graph) const;
};

// N = 16, 32, ... up to `longest`. Throws config::ConfigError.
StreamingStudy run_streaming_study(std::uint32_t longest, const StudyProgress& progress);
// Plots are named STEM-SUFFIX.svg.
StudyReport streaming_report(const StreamingStudy& study, const std::string& stem);

}  // namespace attnvp::papers
