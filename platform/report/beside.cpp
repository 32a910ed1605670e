#include "platform/report/beside.h"

#include <fmt/format.h>

#include "platform/report/json.h"
#include "platform/report/report.h"
#include "platform/report/table.h"
#include "platform/run/tiling.h"

namespace attnvp::report {

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
