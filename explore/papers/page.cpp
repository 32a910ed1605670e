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

constexpr std::size_t kPageWidth = 100;

// Lead, table and notes; `gap` comes before lead and notes.
std::string body_of(const Section& s, const std::string& table, const std::string& gap) {
  std::string out = s.lead.empty() ? "" : gap + report::paragraph(s.lead, kPageWidth);
  if (!s.columns.empty()) out += "\n" + table;
  if (!s.notes.empty()) out += gap;
  for (const std::string& note : s.notes) {
    std::string text = report::paragraph(note, kPageWidth - 2);
    for (std::size_t end = text.find('\n'); end + 1 < text.size(); end = text.find('\n', end + 1)) {
      text.insert(end + 1, "  ");
    }
    out += "- " + text;
  }
  return out;
}

// Fields of a cell in the outputs; null: none.
using nlohmann::ordered_json;
ordered_json fields_of(const Cell& c) {
  return {{"quantity", c.quantity},
          {"network", c.network},
          {"dataflow", c.dataflow},
          {"paper", c.paper == 0 ? ordered_json() : ordered_json(c.paper)},
          {"ours", c.ours},
          {"ratio", c.paper == 0 ? ordered_json() : ordered_json(c.ratio())},
          {"why", c.why},
          {"schedule", c.schedule.empty() ? c.dataflow : c.schedule},
          {"calibrated", c.calibrated.empty() ? ordered_json() : ordered_json(c.calibrated)}};
}

}  // namespace

std::map<Case, Cell> cells_of(const std::vector<Cell>& all, const std::string& quantity) {
  std::map<Case, Cell> cells;
  for (const Cell& c : all) {
    if (c.quantity == quantity) cells.emplace(Case(c.network, c.dataflow), c);
  }
  return cells;
}

std::vector<Case> column(const Names& networks, const std::string& dataflow) {
  std::vector<Case> cases;
  for (const std::string& network : networks) cases.emplace_back(network, dataflow);
  return cases;
}

bool noteworthy(double ratio) { return std::abs(ratio - 1) > kNoteworthy; }

void Section::grid(const Names& down, const Names& across, const CaseText& cell) {
  columns.insert(columns.end(), across.begin(), across.end());
  for (std::size_t i = 0; i < down.size(); ++i) {
    if (i == rows.size()) rows.push_back({down[i]});
    for (const std::string& column : across) rows[i].push_back(cell({down[i], column}));
  }
}

void Section::pivot(const std::map<Case, Cell>& cells, const Names& networks, const Names& dataflows,
                    const CellText& cell) {
  grid(networks, dataflows, [&](const Case& c) {
    const auto found = cells.find(c);
    return found == cells.end() ? "" : cell(found->second);
  });
}

std::string Cell::ratio_text(const char* format) const {
  return fmt::format(fmt::runtime(format), ratio()) + (noteworthy(ratio()) ? "*" : " ");
}

std::string CellForm::operator()(const Cell& cell) const {
  const auto number = [](const char* format, double x) { return fmt::format(fmt::runtime(format), x); };
  std::string text = number(ours, cell.ours / unit);
  if (cell.paper == 0) return text;
  text = number(paper, cell.paper / unit) + "  " + text;
  if (ratio != nullptr) text += "  " + cell.ratio_text(ratio);
  return text + (cell.calibrated.empty() ? "" : " c");
}

std::string to_text(const StudyReport& r) {
  std::string out = r.heading;
  for (const Section& s : r.sections) {
    report::Table table;
    for (std::size_t i = 0; i < s.columns.size(); ++i) {
      table.column(s.columns[i], is_text(s, i) ? report::Table::Align::kLeft : report::Table::Align::kRight);
    }
    for (const Names& row : s.rows) table.row(row);
    out += (out.empty() ? "" : "\n") + s.title + "\n" + body_of(s, table.text(text::line_width()), "");
  }
  return out + r.closing;
}

std::string to_markdown(const StudyReport& r) {
  std::string out = "# " + r.title + "\n";
  for (const std::string& text : r.introduction) out += "\n" + report::paragraph(text, kPageWidth);
  for (const Section& s : r.sections) {
    Names rule;
    for (std::size_t i = 0; i < s.columns.size(); ++i) rule.emplace_back(is_text(s, i) ? "---" : "--:");
    std::vector<Names> lines{s.columns, rule};
    lines.insert(lines.end(), s.rows.begin(), s.rows.end());
    std::string table;
    for (const Names& line : lines) table += fmt::format("| {} |\n", fmt::join(line, " | "));
    out += "\n## " + s.title + "\n" + (s.figure.empty() ? "" : "\n" + s.figure + "\n") + body_of(s, table, "\n");
  }
  return out;
}

std::string to_json(const StudyReport& r) {
  ordered_json j = report::json_document();
  j["hardware"] = r.hardware;
  j["golden"] = {{"checked", r.checked > 0}, {"runs", r.checked}, {"passed", r.checked - r.failures.size()}};
  j["entries"] = ordered_json::array();
  for (const Cell& c : r.cells) j["entries"].push_back(fields_of(c));
  for (const Section& s : r.sections) {
    j["sections"].push_back({{"title", s.title}, {"columns", s.columns}, {"rows", s.rows}, {"notes", s.notes}});
  }
  return report::json_text(j);
}

std::string to_csv(const StudyReport& r) {
  const ordered_json titles = fields_of({});
  Names row;
  for (const auto& [key, value] : titles.items()) row.push_back(key);
  std::string out = fmt::format("{}\n", fmt::join(row, ","));
  for (const Cell& c : r.cells) {
    const ordered_json fields = fields_of(c);
    row.clear();
    for (const auto& [key, value] : fields.items()) {
      row.push_back(value.is_null()     ? ""
                    : value.is_string() ? report::csv_cell(value)
                    : key == "ratio"    ? fmt::format("{:.6f}", c.ratio())
                                        : report::csv_number(value.get<double>()));
    }
    out += fmt::format("{}\n", fmt::join(row, ","));
  }
  return out;
}

std::vector<config::CsvLine> read_table(const std::string& name) {
  return config::read_csv_table(config::config_root() + "/paper/" + name);
}

std::map<Case, double> read_claims(const std::string& name) {
  const std::vector<config::CsvLine> lines = read_table(name);
  if (lines[0].cells.size() != 3) config::fail(lines[0].origin, "three columns are allowed: claim, of and value");
  std::map<Case, double> claims;
  for (std::size_t row = 1; row < lines.size(); ++row) {
    claims[{lines[row].cells[0], lines[row].cells[1]}] = config::positive_number(lines[row], 2);
  }
  return claims;
}

std::string times(double ratio) { return fmt::format("{:.2f}x", ratio); }
std::string bytes_text(double bytes) { return report::with_prefix(bytes, "B"); }
std::string tokens_text(std::uint32_t tokens) {
  return tokens >= 1U << 20 ? fmt::format("{}M", tokens >> 20) : fmt::format("{}K", tokens >> 10);
}

explore::TunedRunner timing_runner(const MachineConfig& machine) {
  return {machine, config::load_energy(machine.energy), false};
}

std::map<Case, job::RunResult> run_all(const MachineConfig& machine, const Names& networks, const Names& dataflows,
                                       const StudyProgress& progress) {
  explore::TunedRunner runner = timing_runner(machine);
  std::map<Case, job::RunResult> results;
  for (const std::string& network : networks) {
    for (const std::string& dataflow : dataflows) {
      progress(fmt::format("{} with {} on {}", network, dataflow, machine.name));
      results.emplace(Case(network, dataflow), runner.run(workload::load(network), job::parse_dataflow(dataflow)));
    }
  }
  return results;
}

}  // namespace attnvp::papers
