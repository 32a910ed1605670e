#include "explore/reproduce/section.h"

#include <fmt/format.h>

#include <algorithm>

#include "platform/report/table.h"

namespace attnvp::reproduce {

namespace {

bool is_text(const Section& s, std::size_t column) {
  return column < s.left || (s.text_last && column + 1 == s.columns.size());
}

// Lines of at most `width` characters; those after the first are indented.
std::string wrapped(const std::string& text, std::size_t width, const std::string& first, const std::string& indent) {
  std::string out = first;
  std::size_t column = first.size();
  bool line_start = true;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t space = std::min(text.find(' ', start), text.size());
    if (!line_start && column + 1 + space - start > width) {
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

}  // namespace

std::string times(double ratio) { return fmt::format("{:.2f}x", ratio); }

std::string to_text(const Section& s) {
  std::string out = s.title + "\n";
  if (!s.lead.empty()) out += wrapped(s.lead, 118, "", "");
  if (!s.columns.empty()) {
    report::Table table;
    for (std::size_t i = 0; i < s.columns.size(); ++i) {
      table.column(s.columns[i], is_text(s, i) ? report::Table::Align::kLeft : report::Table::Align::kRight);
    }
    for (const auto& row : s.rows) table.row(row);
    out += "\n" + table.text(text::line_width());
  }
  for (const std::string& note : s.notes) out += wrapped(note, 118, "- ", "  ");
  return out;
}

std::string to_markdown(const Section& s) {
  std::string out = fmt::format("## {}\n", s.title);
  if (!s.lead.empty()) out += "\n" + wrapped(s.lead, 118, "", "");
  if (!s.columns.empty()) {
    const auto line = [](const std::vector<std::string>& cells) {
      return fmt::format("| {} |\n", fmt::join(cells, " | "));
    };
    std::vector<std::string> rule;
    for (std::size_t i = 0; i < s.columns.size(); ++i) rule.emplace_back(is_text(s, i) ? "---" : "--:");
    out += "\n" + line(s.columns) + line(rule);
    for (const auto& row : s.rows) out += line(row);
  }
  if (!s.notes.empty()) out += "\n";
  for (const std::string& note : s.notes) out += fmt::format("- {}\n", note);
  return out;
}

}  // namespace attnvp::reproduce
