// `attnvp reproduce`: the papers' experiments on this platform. A paper is a study, which runs them, and a report:
// cells (a number of ours, beside the paper's where it prints one) and sections of text and tables. Text, page, JSON
// and CSV are written from the report alone, by one writer. None depends on the host or on the data mode, but for
// JSON's "golden". What the papers print is under configs/paper.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "explore/tuning/tuned_runner.h"
#include "platform/config/csv.h"

namespace attnvp::papers {

// A number of ours and where it comes from.
struct Cell {
  std::string quantity;  // "cycles", "speedup", "energy_pj", "saving_percent"; "best_..." of dataflows at their best
  std::string network;   // or "geomean" of the rows, or "geomean_printed"
  std::string dataflow;
  double paper = 0, ours = 0;   // paper 0: it prints none
  std::string why = {};         // where they differ noteworthily in cycles or energy
  std::string schedule = {};    // the dataflow with its options, where it is not `dataflow`
  std::string calibrated = {};  // the machine's key that was fitted to the paper's cell, which is then no prediction

  double ratio() const { return ours / paper; }
};
inline const std::string kFlat = "flat";  // what several papers compare with
using Names = std::vector<std::string>;
using Place = std::pair<std::string, std::string>;  // network (or claim) and dataflow
std::map<Place, Cell> cells_of(const std::vector<Cell>& all, const std::string& quantity);

constexpr double kNoteworthy = 0.10;  // differences above this get a reason
bool noteworthy(double ratio);

struct Section {
  std::string title = {};
  std::string lead = {};   // what the table shows
  Names columns = {};      // none: no table
  std::size_t left = 1;    // columns of text, the first ones; the others are numbers
  bool text_last = false;  // the last column is text as well
  std::vector<Names> rows = {};
  Names notes = {};         // a list below the table
  std::string figure = {};  // its file, in Markdown, above all that

  // Titles of all columns behind the first, cells of all rows: rows down, columns across.
  void grid(const Names& down, const Names& across,
            const std::function<std::string(const std::string& row, const std::string& column)>& cell);
};
// The cells of a quantity: networks down, dataflows across; empty where there is none.
Section pivot(const std::vector<Cell>& all, const std::string& quantity, const Names& networks, const Names& dataflows,
              const std::function<std::string(const Cell&)>& cell);
std::string to_text(const Section& section);
std::string to_markdown(const Section& section);

struct Report {
  std::string heading, closing;  // of the text
  std::string preamble;          // of the page: title and what it is
  Names hardware;
  std::vector<Section> sections;
  std::vector<Cell> cells;
  std::size_t checked = 0;  // runs that had a golden check,
  Names failures;           // and what failed
  struct Plot {
    std::string suffix, svg;  // NAME-SUFFIX.svg beside NAME.md
  };
  std::vector<Plot> plots;
};
std::string to_text(const Report& report);
std::string to_markdown(const Report& report);
std::string to_json(const Report& report);
std::string to_csv(const Report& report);

using Progress = std::function<void(const std::string& what)>;  // hears of each run before it starts

// The papers. Throw config::ConfigError and job::RunError. mas: `full_data` golden-checks every run; `all` searches the
// longest sequences and runs control, too. streaming: the page's plots are STEM-SUFFIX.svg.
Report mas(const std::string& hardware, bool full_data, bool all, const Progress& progress);
Report fusemax(std::uint32_t longest, const Progress& progress);
Report lean(const std::string& hardware, const Progress& progress);
Report streaming(std::uint32_t longest, const std::string& stem, const Progress& progress);

// A table under configs/paper; the first line holds the names. Throws config::ConfigError with file and line.
std::vector<config::CsvLine> read_table(const std::string& name);
// A table of claim, of and value.
std::map<Place, double> read_claims(const std::string& name);
inline double claim_of(const std::map<Place, double>& claims, const std::string& what, const std::string& of) {
  const auto found = claims.find({what, of});
  return found == claims.end() ? 0 : found->second;
}

std::string times(double ratio);  // "1.73x"
double geometric_mean(const Names& networks, const std::function<double(const std::string&)>& value);

// In timing mode, with energies of its own table.
explore::TunedRunner timing_runner(const MachineConfig& machine);
// Every network under every dataflow on a machine.
void for_each_run(const MachineConfig& machine, const Names& networks, const Names& dataflows, const Progress& progress,
                  const std::function<void(const Place&, const job::Result&)>& see);

}  // namespace attnvp::papers
