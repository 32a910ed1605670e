#include "platform/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace attnvp::report {

void Table::column(std::string title, Align align) {
  titles_.push_back(std::move(title));
  align_.push_back(align);
}

void Table::row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

std::string Table::text() const {
  std::vector<std::size_t> width;
  for (const std::string& title : titles_) width.push_back(title.size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) text += "  ";
      text += align_[i] == Align::kLeft ? fmt::format("{:<{}}", cells[i], width[i])
                                        : fmt::format("{:>{}}", cells[i], width[i]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  };
  line(titles_);
  std::vector<std::string> rule;
  rule.reserve(width.size());
  for (const std::size_t w : width) rule.emplace_back(w, '-');
  line(rule);
  for (const auto& row : rows_) line(row);
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

std::string upper(std::string name) {
  for (char& c : name) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return name;
}

std::string percent(double share) { return fmt::format("{:.1f}%", 100 * share); }

}  // namespace attnvp::report
