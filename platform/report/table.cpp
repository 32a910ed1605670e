#include "platform/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attnvp::report {

void Table::column(std::string title, Align align) {
  titles_.push_back(std::move(title));
  align_.push_back(align);
}

void Table::row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

namespace {

constexpr std::size_t kGap = 2;            // between columns
constexpr std::size_t kLeastWrapped = 24;  // width of a column

// Wraps at spaces; long words are not divided.
std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::size_t next = std::min(text.find_first_not_of(' ', end), text.size());
    std::string& last = lines.back();
    if (!last.empty() && last.size() + end - at > width) {
      last.erase(last.find_last_not_of(' ') + 1);
      lines.emplace_back();
    }
    lines.back() += text.substr(at, next - at);
    at = next;
  }
  return lines;
}

}  // namespace

std::vector<Table::TablePart> Table::parts(std::size_t line_width) const {
  std::vector<std::size_t> width;
  for (const std::string& title : titles_) width.push_back(title.size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  const auto least = [&](std::size_t i) {  // least width of a column
    return align_[i] == Align::kLeft ? std::min(width[i], std::max(kLeastWrapped, titles_[i].size())) : width[i];
  };
  std::vector<TablePart> parts(1);
  std::size_t taken = 0;
  for (std::size_t i = 0; i < width.size(); ++i) {
    const std::size_t gap = parts.back().columns.empty() ? 0 : kGap;
    std::size_t space = line_width == text::kUnlimited ? line_width : line_width - std::min(line_width, taken + gap);
    if (least(i) > space && parts.back().columns.size() > 1) {
      parts.push_back({{0}, {width[0]}});
      taken = width[0];
      space = line_width - std::min(line_width, taken + kGap);
    }
    // Text columns shrink; later columns of the line keep their width.
    const std::size_t given = std::max(std::min(width[i], space), least(i));
    parts.back().columns.push_back(i);
    parts.back().widths.push_back(given);
    taken += given + (parts.back().columns.size() > 1 ? kGap : 0);
  }
  return parts;
}

void Table::line(std::string& out, const TablePart& part, const Cells& cells) const {
  std::vector<Cells> lines;  // by column
  std::size_t high = 1;
  for (std::size_t c = 0; c < part.columns.size(); ++c) {
    const std::string& cell = part.columns[c] < cells.size() ? cells[part.columns[c]] : std::string();
    lines.push_back(cell.size() > part.widths[c] ? wrapped(cell, part.widths[c]) : Cells{cell});
    high = std::max(high, lines.back().size());
  }
  for (std::size_t i = 0; i < high; ++i) {
    std::string text;
    for (std::size_t c = 0; c < lines.size(); ++c) {
      if (c > 0) text.append(kGap, ' ');
      const std::string& cell = i < lines[c].size() ? lines[c][i] : std::string();
      text += align_[part.columns[c]] == Align::kLeft ? fmt::format("{:<{}}", cell, part.widths[c])
                                                      : fmt::format("{:>{}}", cell, part.widths[c]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  }
}

std::string Table::text(std::size_t line_width) const {
  std::string out;
  for (const TablePart& part : parts(line_width)) {
    if (!out.empty()) out += "\n";
    line(out, part, titles_);
    Cells rule(titles_.size());
    for (std::size_t c = 0; c < part.columns.size(); ++c) rule[part.columns[c]].assign(part.widths[c], '-');
    line(out, part, rule);
    for (const auto& row : rows_) line(out, part, row);
  }
  return out;
}

std::string paragraph(const std::string& text, std::size_t width) {
  std::string out;
  for (const std::string& line : wrapped(text, width)) out += line + "\n";
  return out;
}

std::string with_commas(unsigned long long n) {
  std::string digits = std::to_string(n);
  for (std::size_t i = digits.size(); i > 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

std::string counted(unsigned long long n, const char* noun) {
  return with_commas(n) + " " + noun + (n == 1 ? "" : "s");
}

std::string with_prefix(double value, const char* unit) {
  static const char* const kPrefixes[] = {"p", "n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
  int index = 4;
  double scaled = value;
  while (scaled >= 999.5 && index < 10) {
    scaled /= 1000;
    ++index;
  }
  while (scaled != 0 && std::abs(scaled) < 0.9995 && index > 0) {
    scaled *= 1000;
    --index;
  }
  const int decimals = scaled >= 99.95 || scaled == 0 ? 0 : scaled >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}{}", scaled, decimals, kPrefixes[index], unit);
}

std::string rate_text(double value) {
  return value >= 99.95 ? with_commas(static_cast<unsigned long long>(std::llround(value)))
                        : fmt::format("{:.3g}", value);
}

std::string upper(std::string name) {
  for (char& c : name) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return name;
}

std::string percent(double share) { return fmt::format("{:.1f}%", 100 * share); }

}  // namespace attnvp::report
