#include <algorithm>
#include <cmath>

#include "explore/papers/papers.h"
#include "platform/machine/catalog.h"
#include "platform/machine/energy.h"
#include "platform/report/json.h"
#include "platform/report/table.h"
#include "platform/workload/workload.h"

namespace attnvp::papers {

namespace {

bool is_text(const Section& s, std::size_t column) {
  return column < s.left || (s.text_last && column + 1 == s.columns.size());
}

// Wraps at 100 characters; lines after the first are indented.
std::string wrapped(const std::string& text, const std::string& first, const std::string& indent) {
  std::string out = first;
  std::size_t column = first.size();
  bool line_start = true;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t space = std::min(text.find(' ', start), text.size());
    if (!line_start && column + 1 + space - start > 100) {
      out += "\n" + indent;
      column = indent.size();
      line_start = true;
    }
    if (!line_start) out += ' ';
    out.append(text, start, space - start);
    column += space - start + (line_start ? 0 : 1);
    line_start = false;
    start = space + 1;
  }
  return out + "\n";
}

nlohmann::ordered_json or_null(bool is_null, nlohmann::ordered_json value) {
  return is_null ? nlohmann::ordered_json() : std::move(value);
}

}  // namespace

std::map<Case, Cell> cells_of(const std::vector<Cell>& all, const std::string& quantity) {
  std::map<Case, Cell> cells;
  for (const Cell& c : all) {
    if (c.quantity == quantity) cells.emplace(Case(c.network, c.dataflow), c);
  }
  return cells;
}

bool noteworthy(double ratio) { return std::abs(ratio - 1) > kNoteworthy; }

void Section::grid(const Names& down, const Names& across,
                   const std::function<std::string(const std::string&, const std::string&)>& cell) {
  columns.insert(columns.end(), across.begin(), across.end());
  for (const std::string& row : down) {
    rows.push_back({row});
    for (const std::string& column : across) rows.back().push_back(cell(row, column));
  }
}

Section pivot(const std::vector<Cell>& all, const std::string& quantity, const Names& networks, const Names& dataflows,
              const std::function<std::string(const Cell&)>& cell) {
  const std::map<Case, Cell> cells = cells_of(all, quantity);
  Section section;
  section.columns = {"network"};
  section.grid(networks, dataflows, [&](const std::string& network, const std::string& dataflow) {
    const auto found = cells.find({network, dataflow});
    return found == cells.end() ? "" : cell(found->second);
  });
  return section;
}

std::string to_text(const Section& s) {
  std::string out = s.title + "\n";
  if (!s.lead.empty()) out += wrapped(s.lead, "", "");
  if (!s.columns.empty()) {
    report::Table table;
    for (std::size_t i = 0; i < s.columns.size(); ++i) {
      table.column(s.columns[i], is_text(s, i) ? report::Table::Align::kLeft : report::Table::Align::kRight);
    }
    for (const auto& row : s.rows) table.row(row);
    out += "\n" + table.text(text::line_width());
  }
  for (const std::string& note : s.notes) out += wrapped(note, "- ", "  ");
  return out;
}

std::string to_markdown(const Section& s) {
  std::string out = fmt::format("## {}\n", s.title);
  if (!s.figure.empty()) out += "\n" + s.figure + "\n";
  if (!s.lead.empty()) out += "\n" + wrapped(s.lead, "", "");
  if (!s.columns.empty()) {
    const auto line = [&out](const auto& cells) { out += fmt::format("| {} |\n", fmt::join(cells, " | ")); };
    Names rule;
    for (std::size_t i = 0; i < s.columns.size(); ++i) rule.emplace_back(is_text(s, i) ? "---" : "--:");
    out += "\n";
    line(s.columns);
    line(rule);
    for (const auto& row : s.rows) line(row);
  }
  if (!s.notes.empty()) out += "\n";
  for (const std::string& note : s.notes) out += wrapped(note, "- ", "  ");
  return out;
}

std::string to_text(const StudyReport& r) {
  std::string out = r.heading;
  for (const Section& section : r.sections) out += (out.empty() ? "" : "\n") + to_text(section);
  return out + r.closing;
}

std::string to_markdown(const StudyReport& r) {
  std::string out;
  for (std::size_t at = 0; at < r.preamble.size();) {  // paragraph by paragraph
    const std::size_t end = std::min(r.preamble.find("\n\n", at), r.preamble.size() - 1);
    std::string text = r.preamble.substr(at, end - at);
    std::replace(text.begin(), text.end(), '\n', ' ');
    out += (at == 0 ? "" : "\n") + wrapped(text, "", "");
    at = end + 2;
  }
  for (const Section& section : r.sections) out += "\n" + to_markdown(section);
  return out;
}

std::string to_json(const StudyReport& r) {
  nlohmann::ordered_json j = report::json_document();
  j["hardware"] = r.hardware;
  j["golden"] = {{"checked", r.checked > 0}, {"runs", r.checked}, {"passed", r.checked - r.failures.size()}};
  j["entries"] = nlohmann::ordered_json::array();
  for (const Cell& c : r.cells) {
    j["entries"].push_back({{"quantity", c.quantity},
                            {"network", c.network},
                            {"dataflow", c.dataflow},
                            {"paper", or_null(c.paper == 0, c.paper)},
                            {"ours", c.ours},
                            {"ratio", or_null(c.paper == 0, c.ratio())},
                            {"why", c.why},
                            {"schedule", c.schedule.empty() ? c.dataflow : c.schedule},
                            {"calibrated", or_null(c.calibrated.empty(), c.calibrated)}});
  }
  for (const Section& s : r.sections) {
    j["sections"].push_back({{"title", s.title}, {"columns", s.columns}, {"rows", s.rows}, {"notes", s.notes}});
  }
  return report::json_text(j);
}

std::string to_csv(const StudyReport& r) {
  using report::csv_cell;
  std::string out = "quantity,network,dataflow,paper,ours,ratio,why,schedule,calibrated\n";
  for (const Cell& c : r.cells) {
    out += fmt::format("{},{},{},{},{},{},{},{},{}\n", c.quantity, csv_cell(c.network), csv_cell(c.dataflow),
                       c.paper == 0 ? "" : fmt::to_string(c.paper), c.ours,
                       c.paper == 0 ? "" : fmt::format("{:.6f}", c.ratio()), csv_cell(c.why),
                       csv_cell(c.schedule.empty() ? c.dataflow : c.schedule), c.calibrated);
  }
  return out;
}

std::vector<config::CsvLine> read_table(const std::string& name) {
  return config::read_csv_table(config::config_root() + "/paper/" + name);
}

std::map<Case, double> read_claims(const std::string& name) {
  const std::vector<config::CsvLine> lines = read_table(name);
  if (lines[0].cells.size() != 3) config::fail(lines[0].origin, "claim, of and value are the columns allowed");
  std::map<Case, double> claims;
  for (std::size_t row = 1; row < lines.size(); ++row) {
    claims[{lines[row].cells[0], lines[row].cells[1]}] = config::positive_number(lines[row], 2);
  }
  return claims;
}

std::string times(double ratio) { return fmt::format("{:.2f}x", ratio); }

double geometric_mean(const Names& networks, const std::function<double(const std::string&)>& value) {
  double sum = 0;
  for (const std::string& network : networks) sum += std::log(value(network));
  return std::exp(sum / static_cast<double>(networks.size()));
}

explore::TunedRunner timing_runner(const MachineConfig& machine) {
  return {machine, config::load_energy(machine.energy), false};
}

void for_each_run(const MachineConfig& machine, const Names& networks, const Names& dataflows,
                  const StudyProgress& progress, const std::function<void(const Case&, const job::RunResult&)>& see) {
  explore::TunedRunner runner = timing_runner(machine);
  for (const std::string& network : networks) {
    for (const std::string& dataflow : dataflows) {
      progress(fmt::format("{} with {} on {}", network, dataflow, machine.name));
      see({network, dataflow}, runner.run(workload::load(network), job::parse_dataflow(dataflow)));
    }
  }
}

}  // namespace attnvp::papers
