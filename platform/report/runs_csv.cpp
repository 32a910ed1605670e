#include "platform/report/runs_csv.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "platform/report/csv.h"

namespace attnvp::report {

namespace {

using nlohmann::ordered_json;

// Members about the file, and members without columns.
constexpr const char* kLeftOut[] = {"schema", "version", "command", "simulation", "counters", "time"};

class Columns {
 public:
  using Row = std::map<std::size_t, std::string>;  // by column

  void take(const ordered_json& object, const std::string& prefix, Row& row) {
    for (const auto& [key, value] : object.items()) {
      if (prefix.empty() && std::find(std::begin(kLeftOut), std::end(kLeftOut), key) != std::end(kLeftOut)) continue;
      if (value.is_object()) take(value, prefix + key + ".", row);
      if (value.is_primitive()) row[place(prefix + key)] = text(value);
    }
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::size_t place(const std::string& name) {
    const auto known = std::find(names_.begin(), names_.end(), name);
    if (known == names_.end()) return names_.push_back(name), names_.size() - 1;
    return static_cast<std::size_t>(known - names_.begin());
  }
  static std::string text(const ordered_json& value) {
    if (value.is_null()) return "";
    return value.is_string() ? value.get<std::string>() : value.dump();
  }

  std::vector<std::string> names_;
};

}  // namespace

std::string runs_csv(const std::vector<std::string>& reports) {
  Columns columns;
  std::vector<Columns::Row> rows;
  for (const std::string& report : reports) columns.take(ordered_json::parse(report), "", rows.emplace_back());
  std::string out;
  const std::size_t count = columns.names().size();
  for (std::size_t i = 0; i < count; ++i) out += csv_cell(columns.names()[i]) + (i + 1 < count ? "," : "\n");
  for (Columns::Row& row : rows) {
    for (std::size_t i = 0; i < count; ++i) out += csv_cell(row[i]) + (i + 1 < count ? "," : "\n");
  }
  return out;
}

}  // namespace attnvp::report
