#include "explore/reproduce/paper.h"

#include <fmt/format.h>

#include "explore/reproduce/csv.h"

namespace attnvp::reproduce {

namespace {

// A table of networks x dataflows; the first one read says which there are.
Paper::Cells read_table(const std::string& name, double unit, Paper& paper) {
  const std::vector<CsvLine> lines = read_csv(name);
  const std::vector<std::string> dataflows(lines[0].cells.begin() + 1, lines[0].cells.end());
  const bool first = paper.dataflows.empty();
  if (first) paper.dataflows = dataflows;
  if (dataflows != paper.dataflows || dataflows.back() != "mas") {
    config::fail(lines[0].origin, "the dataflows must be those of the other table, mas last");
  }
  Paper::Cells cells;
  for (std::size_t row = 1; row < lines.size(); ++row) {
    const std::string& network = lines[row].cells[0];
    if (first) paper.networks.push_back(network);
    if (row > paper.networks.size() || network != paper.networks[row - 1]) {
      config::fail(lines[row].origin, "the networks must be those of the other table, in its order");
    }
    for (std::size_t c = 0; c < dataflows.size(); ++c) {
      cells[{network, dataflows[c]}] = csv_number(lines[row], c + 1) * unit;
    }
  }
  if (lines.size() - 1 != paper.networks.size()) config::fail(lines.back().origin, "networks are missing behind it");
  return cells;
}

}  // namespace

double Paper::claim(const std::string& what, const std::string& of) const {
  const auto found = claims.find({what, of});
  return found == claims.end() ? 0 : found->second;
}

Paper load_paper() {
  Paper paper;
  paper.cycles = read_table("mas_table2_cycles.csv", 1e6, paper);
  paper.energy_pj = read_table("mas_table3_energy.csv", 1e9, paper);
  const std::vector<CsvLine> claims = read_csv("mas_claims.csv");
  if (claims[0].cells.size() != 3) config::fail(claims[0].origin, "claim, of and value are the columns allowed");
  for (std::size_t row = 1; row < claims.size(); ++row) {
    paper.claims[{claims[row].cells[0], claims[row].cells[1]}] = csv_number(claims[row], 2);
  }
  return paper;
}

}  // namespace attnvp::reproduce
