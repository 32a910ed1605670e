#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "platform/report/json.h"
#include "platform/report/report.h"
#include "platform/report/table.h"
#include "platform/run/schedule.h"

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

namespace {

using nlohmann::ordered_json;

ordered_json energy_json(const job::RunResult& r) {
  ordered_json j{{"total", r.total_energy_pj()}};
  for (const std::string& part : r.energy_parts()) j[part] = r.energy_pj(part);
  return j;
}

ordered_json counters_json(const job::RunResult& r) {
  ordered_json j = ordered_json::object();
  for (const job::CounterValue& c : r.counters) j[c.module][c.name] = c.value;
  return j;
}

std::uint64_t dram_bytes(const job::RunResult& r, const char* counter) { return 2 * r.sum("dram", counter); }

}  // namespace

std::string to_text(const job::SideBySide& run, const std::string& hardware) {
  Table table;
  for (const char* title : {"job", "clusters", "dataflow"}) table.column(title, Table::Align::kLeft);
  for (const char* title :
       {"cycles", "alone", "slowdown", "time", "MAC busy", "VEC busy", "DRAM asked for", "share", "energy", "golden"}) {
    table.column(title);
  }
  table.column("tiling", Table::Align::kLeft);
  for (const job::NeighbourResult& j : run.jobs) {
    const job::RunResult& r = j.result;
    table.row({r.network.name(), j.clusters.text(), r.schedule.text, with_commas(r.cycles), with_commas(j.alone_cycles),
               fmt::format("{:.2f}x", j.slowdown()), with_prefix(r.seconds(), "s"), percent(r.utilization.mac),
               percent(r.utilization.vec), with_prefix(static_cast<double>(j.dram_bytes()), "B"), percent(run.share(j)),
               with_prefix(r.total_energy_pj() * 1e-12, "J"), golden_text(r), job::tiling_line(r.schedule.tiling)});
  }
  const job::RunResult& m = run.machine;
  std::string out = fmt::format("{}, side by side\n\n{}\n", hardware, table.text(text::line_width()));
  const double moved = static_cast<double>(dram_bytes(m, "read_words") + dram_bytes(m, "write_words"));
  out += fmt::format("together: {} cycles, {}, DRAM moves {} and is busy {} of the time; {} in all\n",
                     with_commas(run.cycles), with_prefix(m.seconds(), "s"), with_prefix(moved, "B"),
                     percent(m.utilization.dram), with_prefix(m.total_energy_pj() * 1e-12, "J"));
  for (const job::NeighbourResult& j : run.jobs) {
    if (j.result.golden_checked && !j.result.golden.passed) out += j.result.golden.to_string() + "\n";
  }
  return out;
}

std::string to_json(const job::SideBySide& run, const std::string& hardware, const JsonParts& parts) {
  ordered_json document = json_document();
  document["hardware"] = hardware;
  add_machine(document, parts.machine_hash, parts.overrides);
  for (const job::NeighbourResult& n : run.jobs) {
    const job::RunResult& r = n.result;
    ordered_json j{
        {"network", r.network.name()},
        {"clusters", {{"first", n.clusters.first}, {"count", n.clusters.count}}},
        {"dataflow", r.schedule.text},
        {"tiling", tiling_json(r.schedule)},
        {"cycles", r.cycles},
        {"alone_cycles", n.alone_cycles},
        {"slowdown", n.slowdown()},
        {"seconds", r.seconds()},
        {"golden", golden_json(r)},
        {"utilization", {{"mac", r.utilization.mac}, {"vec", r.utilization.vec}, {"dma", r.utilization.dma}}},
        {"dram", {{"read_bytes", n.dram_read_bytes}, {"write_bytes", n.dram_write_bytes}, {"share", run.share(n)}}},
        {"energy_pj", energy_json(r)},
        {"counters", counters_json(r)}};
    document["jobs"].push_back(std::move(j));
  }
  const job::RunResult& m = run.machine;
  document["together"] = {
      {"cycles", run.cycles},
      {"frequency_hz", run.frequency_hz},
      {"seconds", m.seconds()},
      {"dram", {{"read_bytes", dram_bytes(m, "read_words")}, {"write_bytes", dram_bytes(m, "write_words")}}},
      {"utilization",
       {{"mac", m.utilization.mac},
        {"vec", m.utilization.vec},
        {"dma", m.utilization.dma},
        {"dram", m.utilization.dram}}},
      {"energy_pj", energy_json(m)}};
  return json_text(document);
}

}  // namespace attnvp::report
