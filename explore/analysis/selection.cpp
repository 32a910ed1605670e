#include "explore/analysis/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "platform/machine/error.h"
#include "platform/machine/words.h"

namespace attnvp::explore {

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
