#include "platform/report/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "platform/report/report.h"
#include "platform/report/table.h"

namespace attnvp::report {

namespace {

std::string tilings_text(const std::vector<ComparisonRow>& rows) {
  Table sizes, keys;
  sizes.column("dataflow", Table::Align::kLeft);
  sizes.column("tile sizes", Table::Align::kLeft);
  std::set<std::string> used;
  for (const ComparisonRow& row : rows) {
    std::string line;
    for (const auto& [key, value] : row.tiling) {
      line += fmt::format("{}{}={}", line.empty() ? "" : " ", key, value);
      used.insert(key);
    }
    sizes.row({row.dataflow, line});
  }
  keys.column("key", Table::Align::kLeft);
  keys.column("meaning", Table::Align::kLeft);
  for (const config::KeyInfo& key : job::tiling_keys()) {
    if (used.count(key.path) > 0) keys.row({key.path, key.meaning});
  }
  return sizes.text(text::line_width()) + "\n" + keys.text(text::line_width());
}

// "mas is the fastest, 4.46 times as fast as layerwise; bound by MAC 98.6%"
std::string conclusion(const std::vector<ComparisonRow>& rows) {
  const ComparisonRow &first = rows.front(), &last = rows.back();
  const double ratio = static_cast<double>(last.cycles) / static_cast<double>(first.cycles);
  return fmt::format("{} is the fastest, {:.2f} times as fast as {}; bound by {}", first.dataflow, ratio, last.dataflow,
                     first.bound);
}

}  // namespace

ComparisonRow comparison_row(const job::RunResult& r) {
  return {r.schedule.text,
          r.cycles,
          r.seconds(),
          r.utilization.mac,
          r.utilization.vec,
          static_cast<double>(r.sum("dram", "read_words") + r.sum("dram", "write_words")) * 2,  // 2-byte words
          r.total_energy_pj() * 1e-12,
          resource_name(r.bound.most.resource) + " " + percent(r.bound.share()),
          job::tiling_text(r.schedule.tiling),
          golden_text(r)};
}

std::string comparison(const std::vector<ComparisonRow>& rows, bool tilings) {
  Table table;
  table.column("dataflow", Table::Align::kLeft);
  for (const char* title : {"cycles", "relative", "time", "MAC", "VEC", "traffic", "energy"}) {
    table.column(title);
  }
  table.column("bound", Table::Align::kLeft);
  std::string golden = rows.empty() ? "" : rows.front().golden;
  for (const ComparisonRow& row : rows) {
    const double relative = static_cast<double>(row.cycles) / static_cast<double>(rows.front().cycles);
    table.row({row.dataflow, with_commas(row.cycles), fmt::format("{:.2f}x", relative), with_prefix(row.seconds, "s"),
               percent(row.mac), percent(row.vec), with_prefix(row.dram_bytes, "B"), with_prefix(row.energy_j, "J"),
               row.bound});
    if (row.golden != golden) golden = "FAILED";
  }
  std::string text = table.text(text::line_width());
  if (rows.empty()) return text;
  const std::size_t width = text::line_width();
  text += "\n" + paragraph("MAC, VEC: busy share, ragged tile edges included; traffic: DRAM reads and writes", width) +
          "golden check: " + golden + "\n";
  if (rows.size() > 1) text += paragraph(conclusion(rows), width);
  return tilings ? text + "\n" + tilings_text(rows) : text;
}

namespace {

using nlohmann::ordered_json;

// Members about the file, and members without columns.
constexpr const char* kLeftOut[] = {"schema", "version", "command", "simulation", "counters", "time"};

class ComparisonColumns {
 public:
  using ColumnTexts = std::map<std::size_t, std::string>;  // by column

  void take(const ordered_json& object, const std::string& prefix, ColumnTexts& row) {
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
  ComparisonColumns columns;
  std::vector<ComparisonColumns::ColumnTexts> rows;
  for (const std::string& report : reports) columns.take(ordered_json::parse(report), "", rows.emplace_back());
  std::string out;
  const std::size_t count = columns.names().size();
  for (std::size_t i = 0; i < count; ++i) out += csv_cell(columns.names()[i]) + (i + 1 < count ? "," : "\n");
  for (ComparisonColumns::ColumnTexts& row : rows) {
    for (std::size_t i = 0; i < count; ++i) out += csv_cell(row[i]) + (i + 1 < count ? "," : "\n");
  }
  return out;
}

}  // namespace attnvp::report
