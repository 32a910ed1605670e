#include "explore/analysis/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "platform/machine/error.h"
#include "platform/machine/words.h"

namespace attnvp::explore {

namespace {

double number_of(const SqlValue& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

Values values_of(const SqlRow& row) {
  return [&row](const std::string& name) -> Quantity {
    const std::size_t i = column_index(name);
    if (!columns()[i].is_text()) return number_of(row[i]);
    const auto* text = std::get_if<std::string>(&row[i]);
    return text != nullptr ? *text : std::string();
  };
}

Selection::Selection(const std::string& path, const std::string& where) {
  Expression condition;
  if (!where.empty()) condition = Expression::condition(where, row_symbols(), {"--where"});
  Database database(path, Database::Mode::kRead);
  const std::size_t status = column_index("status");
  std::uint64_t all = 0;
  for (SqlRow& row : database.rows()) {
    ++all;
    if (std::get<std::string>(row[status]) != kDone) {
      ++failed_;
    } else if (where.empty() || condition.holds(values_of(row))) {
      rows_.push_back(std::move(row));
    }
  }
  if (rows_.empty()) {
    throw config::ConfigError(fmt::format("{}: none of its {} rows is done{}", path, all,
                                          where.empty() ? "" : fmt::format(" and has {}", where)));
  }
  find_axes(database.axes());
}

void Selection::find_axes(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::size_t c = column_index(name);
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

Goal::Goal(const std::string& text, const char* option) {
  most_ = text.rfind("max:", 0) == 0;
  name_ = most_ ? text.substr(4) : text;
  expression_ = Expression::number(name_, row_symbols(), {option});
}

double Goal::value(const SqlRow& row) const { return expression_.value(values_of(row)); }

std::string Goal::shown(double value) const { return explore::shown(value, dimension()); }

}  // namespace attnvp::explore
