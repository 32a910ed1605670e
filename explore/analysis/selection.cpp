#include "explore/analysis/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

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

Selection::Selection(const std::string& path, const std::string& where, Networks networks)
    : networks_(std::move(networks)) {
  Expression condition;
  if (!where.empty()) condition = Expression::condition(where, networks_.symbols(), {"--where"});
  Database database(path, Database::Mode::kRead);
  const std::size_t status = column_index("status");
  std::uint64_t all = 0;
  for (SqlRow& row : database.rows()) {
    ++all;
    if (std::get<std::string>(row[status]) != kDone) {
      ++failed_;
    } else {
      rows_.push_back(std::move(row));
    }
  }
  if (networks_.any() && !rows_.empty()) rows_ = networks_.joined(rows_, database.axes(), incomplete_);
  const auto is_excluded = [&](const SqlRow& row) { return !condition.holds(networks_.values(row)); };
  if (!where.empty()) rows_.erase(std::remove_if(rows_.begin(), rows_.end(), is_excluded), rows_.end());
  if (rows_.empty()) {
    throw config::ConfigError(fmt::format("{}: none of its {} rows is done{}", path, all,
                                          where.empty() ? "" : fmt::format(" and has {}", where)));
  }
  find_axes(database.axes());
}

std::vector<std::pair<std::string, std::string>> Selection::commands(const SqlRow& row) const {
  const std::size_t command = column_index("command");
  if (!networks_.any()) return {{"command", text(row, command)}};
  std::vector<std::pair<std::string, std::string>> all;
  for (std::size_t n = 0; n < networks_.named().size(); ++n) {
    const auto* line = std::get_if<std::string>(&row[n * columns().size() + command]);
    all.emplace_back(networks_.named()[n].first + ".command", line != nullptr ? *line : "");
  }
  return all;
}

void Selection::find_axes(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::size_t c = column_index(name);
    if (networks_.any() && name == "network") continue;
    bool varies = false;
    for (const SqlRow& row : rows_) varies = varies || row[c] != rows_.front()[c];
    if (varies) axes_.push_back(c);
  }
}

std::uint64_t Selection::drop_without(const std::vector<Goal>& goals) {
  const std::size_t before = rows_.size();
  for (const Goal& goal : goals) {
    const std::size_t had = rows_.size();
    const auto has_none = [&](const SqlRow& row) { return !std::isfinite(goal.value(row)); };
    rows_.erase(std::remove_if(rows_.begin(), rows_.end(), has_none), rows_.end());
    if (rows_.empty()) {
      throw config::ConfigError(
          fmt::format("none of the {} jobs has a finite value of {}", had, config::in_quotes(goal.name())));
    }
  }
  return before - rows_.size();
}

double Selection::number(const SqlRow& row, std::size_t column) const { return number_of(row[column]); }

std::string Selection::text(const SqlRow& row, std::size_t column) const {
  const Column& c = columns()[column];
  if (const auto* text = std::get_if<std::string>(&row[column])) return *text;
  if (c.key != nullptr && c.key->type == config::Type::kReal) {
    return config::format_real(c.key->unit, number_of(row[column]));
  }
  if (c.key != nullptr)
    return config::format_integer(c.key->unit, static_cast<std::uint64_t>(std::get<std::int64_t>(row[column])));
  return explore::shown(number_of(row[column]), c.dimension);
}

std::string Selection::settings(const SqlRow& row) const {
  std::string out;
  for (const std::size_t axis : axes_) {
    out += fmt::format("{}{}={}", out.empty() ? "" : ", ", columns()[axis].name, text(row, axis));
  }
  return out;
}

Goal::Goal(const std::string& text, const char* option, Networks networks) : networks_(std::move(networks)) {
  most_ = text.rfind("max:", 0) == 0;
  name_ = most_ ? text.substr(4) : text;
  expression_ = Expression::number(name_, networks_.symbols(), {option});
}

double Goal::value(const SqlRow& row) const { return expression_.value(networks_.values(row)); }

std::string Goal::shown(double value) const { return explore::shown(value, dimension()); }

}  // namespace attnvp::explore
