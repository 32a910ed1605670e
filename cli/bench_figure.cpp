#include "cli/bench_figure.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "cli/command_text.h"
#include "cli/commands.h"
#include "platform/config/error.h"

namespace attnvp::cli {

namespace {

// Columns are two spaces or more apart; a label may begin with some.
std::vector<std::string> columns_of(const std::string& line) {
  std::vector<std::string> columns;
  std::size_t at = 0;
  while (at < line.size()) {
    const std::size_t text = line.find_first_not_of(' ', at);
    if (text == std::string::npos) break;
    const std::size_t end = std::min(line.find("  ", text), line.size());
    columns.push_back(line.substr(columns.empty() ? at : text, end - (columns.empty() ? at : text)));
    at = end;
  }
  return columns;
}

double seconds_of(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const std::string unit = end;
  for (const auto& [name, factor] :
       {std::pair{" s", 1.0}, std::pair{" ms", 1e-3}, std::pair{" us", 1e-6}, std::pair{" ns", 1e-9}}) {
    if (unit == name) return value * factor;
  }
  return 0;
}

}  // namespace

Figures parse_figures(const std::string& table) {
  Figures figures;
  std::istringstream lines(table);
  std::string line;
  for (int number = 0; std::getline(lines, line); ++number) {
    const std::vector<std::string> columns = columns_of(line);
    if (number < 2 || columns.size() != 3) continue;  // heading and rule
    figures.push_back({columns[0], seconds_of(columns[1]), columns[1], columns[2]});
  }
  return figures;
}

Figures figures_of(const std::string& path, const BenchArguments& a) {
  if (::access(path.c_str(), X_OK) != 0) {
    throw config::ConfigError(fmt::format("--against: '{}' is not a program that can be run", path));
  }
  const std::string program = path.find('/') == std::string::npos ? "./" + path : path;
  const std::string command = fmt::format("{} bench --hw {} --net {} --seconds {}", quoted(program), quoted(a.hardware),
                                          quoted(a.network), a.seconds);
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::string table;
  std::array<char, 4096> piece{};
  for (std::size_t n = 0; pipe != nullptr && (n = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;) {
    table.append(piece.data(), n);
  }
  const int status = pipe == nullptr ? -1 : ::pclose(pipe);
  const Figures figures = parse_figures(table);
  if (status != 0 || figures.empty()) {
    throw config::ConfigError(fmt::format("--against: '{} bench' gave no figures (status {})", path, status));
  }
  return figures;
}

Figures better(const Figures& a, const Figures& b) {
  Figures best = a;
  for (Figure& figure : best) {
    for (const Figure& other : b) {
      if (other.label == figure.label && other.seconds > 0 && other.seconds < figure.seconds) figure = other;
    }
  }
  return best;
}

}  // namespace attnvp::cli
