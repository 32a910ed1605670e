#include "explore/analysis/networks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>

#include "platform/machine/error.h"
#include "platform/machine/words.h"

namespace attnvp::explore {

namespace {

constexpr char kOption[] = "--network";

bool is_word(const std::string& name) {
  const auto fits = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  return !name.empty() && std::isalpha(static_cast<unsigned char>(name[0])) != 0 &&
         std::all_of(name.begin(), name.end(), fits);
}

bool begins_a_column(const std::string& name) {
  return std::any_of(columns().begin(), columns().end(),
                     [&](const Column& c) { return c.name == name || c.name.rfind(name + ".", 0) == 0; });
}

}  // namespace

double number_of(const SqlValue& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  return std::numeric_limits<double>::quiet_NaN();
}

Networks::Networks(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    if (equals == std::string::npos || equals + 1 == text.size() || !is_word(name)) {
      throw config::ConfigError(fmt::format("{} {}: must be NAME=NETWORK, the name of letters, digits and _", kOption,
                                            config::in_quotes(text)));
    }
    if (begins_a_column(name)) {
      throw config::ConfigError(
          fmt::format("{} {}: is also the name of a column; choose another one", kOption, config::in_quotes(name)));
    }
    const bool twice = std::any_of(named_.begin(), named_.end(), [&](const auto& n) { return n.first == name; });
    if (twice) throw config::ConfigError(fmt::format("{} {}: is given twice", kOption, config::in_quotes(name)));
    named_.emplace_back(name, text.substr(equals + 1));
  }
  if (named_.empty()) return;
  symbols_ = input_symbols();
  symbols_.erase("network");
  for (const auto& [name, network] : named_) {
    for (const auto& [column, symbol] : row_symbols()) symbols_.emplace(name + "." + column, symbol);
  }
}

std::string Networks::sum_of(const std::string& column) const {
  if (!any()) return column;
  std::string sum;
  for (const auto& [name, network] : named_) sum += fmt::format("{}{}.{}", sum.empty() ? "" : " + ", name, column);
  return sum;
}

Values Networks::values(const SqlRow& row) const {
  return [&row, this](const std::string& name) -> Quantity {
    std::size_t begin = 0;
    std::string column = name;
    for (std::size_t n = 0; n < named_.size(); ++n) {
      if (name.rfind(named_[n].first + ".", 0) != 0) continue;
      begin = n * columns().size();
      column = name.substr(named_[n].first.size() + 1);
    }
    const std::size_t i = column_index(column);
    const SqlValue& cell = row[begin + i];
    if (!columns()[i].is_text()) return number_of(cell);
    const auto* text = std::get_if<std::string>(&cell);
    return text != nullptr ? *text : std::string();
  };
}

std::vector<SqlRow> Networks::joined(const std::vector<SqlRow>& rows, const std::vector<std::string>& axes,
                                     std::uint64_t& incomplete) const {
  const std::size_t network = column_index("network");
  std::vector<std::size_t> same;
  for (const std::string& axis : axes) {
    if (axis != "network") same.push_back(column_index(axis));
  }
  struct Design {
    std::vector<const SqlRow*> of;  // by network
  };
  std::vector<Design> designs;
  std::map<SqlRow, std::size_t> places;
  std::vector<bool> found(named_.size(), false);
  for (const SqlRow& row : rows) {
    const auto* text = std::get_if<std::string>(&row[network]);
    for (std::size_t n = 0; text != nullptr && n < named_.size(); ++n) {
      if (*text != named_[n].second) continue;
      found[n] = true;
      SqlRow key;
      for (const std::size_t column : same) key.push_back(row[column]);
      const auto [place, fresh] = places.emplace(std::move(key), designs.size());
      if (fresh) designs.push_back({std::vector<const SqlRow*>(named_.size(), nullptr)});
      designs[place->second].of[n] = &row;
    }
  }
  for (std::size_t n = 0; n < named_.size(); ++n) {
    if (found[n]) continue;
    throw config::ConfigError(fmt::format("{} {}: no job that is done has the network {}", kOption, named_[n].first,
                                          config::in_quotes(named_[n].second)));
  }
  std::vector<SqlRow> all;
  for (const Design& d : designs) {
    if (std::count(d.of.begin(), d.of.end(), nullptr) > 0) {
      ++incomplete;
      continue;
    }
    SqlRow row;
    for (const SqlRow* part : d.of) row.insert(row.end(), part->begin(), part->end());
    all.push_back(std::move(row));
  }
  return all;
}

}  // namespace attnvp::explore
