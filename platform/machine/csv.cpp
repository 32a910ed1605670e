#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "platform/machine/document.h"
#include "platform/machine/words.h"

namespace attnvp::config {

namespace {

bool parse(const std::string& cell, double& value) {
  const char* const stop = cell.data() + cell.size();
  const auto [end, error] = std::from_chars(cell.data(), stop, value);
  return error == std::errc() && end == stop && std::isfinite(value);
}

// Reads RFC 4180 cells and comment lines between rows.
class CsvReader {
 public:
  CsvReader(std::string_view text, const Origin& first) : source_(first.source), text_(text), line_(first.line) {}

  std::vector<CsvLine> read() {
    std::vector<CsvLine> lines;
    while (at_ < text_.size()) {
      if (text_[at_] == '#' || rest_of_line(at_).empty()) {
        at_ = end_of_line(at_) + 1;
        ++line_;
        continue;
      }
      lines.push_back(row(lines.empty() ? 0 : lines.front().cells.size()));
      const std::size_t found = lines.back().cells.size(), columns = lines.front().cells.size();
      if (found != columns) {
        fail(lines.back().origin, fmt::format("found {} cells, the first line has {}", found, columns));
      }
    }
    return lines;
  }

 private:
  std::size_t end_of_line(std::size_t from) const { return std::min(text_.find('\n', from), text_.size()); }
  std::string_view rest_of_line(std::size_t from) const {
    return trimmed(text_.substr(from, end_of_line(from) - from));
  }

  CsvLine row(std::size_t likely_cells) {
    CsvLine line{{source_, line_}, {}};
    line.cells.reserve(likely_cells);
    bool more = true;
    while (more) {
      const std::size_t start = std::min(text_.find_first_not_of(" \t", at_), text_.size());
      const bool quoted = start < text_.size() && text_[start] == '"';
      line.cells.push_back(quoted ? quoted_cell(start) : plain_cell());
      more = at_ < text_.size() && text_[at_] == ',';
      ++at_;  // behind the comma, or the end of the line
    }
    ++line_;
    return line;
  }

  std::string plain_cell() {
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n') ++at_;
    return std::string(trimmed(text_.substr(start, at_ - start)));
  }

  std::string quoted_cell(std::size_t quote) {
    const Origin origin{source_, line_};
    std::string cell;
    for (at_ = quote + 1;; ++at_) {
      if (at_ >= text_.size()) fail(origin, "a quoted cell does not end");
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] == '"' && text_.compare(at_, 2, "\"\"") != 0) break;
      if (text_[at_] == '"') ++at_;  // "" is an escaped quote
      cell += text_[at_];
    }
    const std::size_t end = std::min(text_.find_first_of(",\n", ++at_), text_.size());
    const std::string_view behind = trimmed(text_.substr(at_, end - at_));
    if (!behind.empty()) {
      fail(origin, fmt::format("found {} behind a quoted cell; allowed is a comma, or the line's end",
                               in_quotes(std::string(behind))));
    }
    at_ = end;
    return std::string(trimmed(cell));
  }

  const std::string source_;
  const std::string_view text_;
  std::size_t at_ = 0;
  int line_;
};

void check_column_names(const CsvLine& names) {
  if (names.cells.size() < 2) {
    const bool others = names.cells.front().find_first_of(";\t") != std::string::npos;
    fail(names.origin, others ? "the cells have no commas between them; allowed is a table with commas"
                              : "not a table: found one column");
  }
  for (auto name = names.cells.begin(); name != names.cells.end(); ++name) {
    if (!name->empty() && std::find(names.cells.begin(), name, *name) != name) {
      fail(names.origin, fmt::format("column {} is there twice", in_quotes(*name)));
    }
  }
}

}  // namespace

std::vector<CsvLine> read_csv_lines(std::string_view part, const Origin& first) {
  return CsvReader(part, first).read();
}

std::vector<CsvLine> read_csv_table(const std::string& path) {
  const std::string text = read_text_file(path);
  std::vector<CsvLine> lines = read_csv_lines(text, {shown_path(path), 1});
  if (!lines.empty()) check_column_names(lines.front());
  if (lines.size() < 2) throw ConfigError(fmt::format("{}: not a table: it has no rows", shown_path(path)));
  return lines;
}

double positive_number(const CsvLine& line, std::size_t column) {
  double value = 0;
  if (!parse(line.cells[column], value) || value <= 0) {
    fail(line.origin, fmt::format("found {}; allowed is a number above 0", in_quotes(line.cells[column])));
  }
  return value;
}

double number_from_zero(const CsvLine& line, std::size_t column) {
  double value = 0;
  if (!parse(line.cells[column], value) || value < 0) {
    fail(line.origin, fmt::format("found {}; allowed is a number from 0 on", in_quotes(line.cells[column])));
  }
  return value;
}

}  // namespace attnvp::config
