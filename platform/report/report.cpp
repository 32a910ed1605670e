#include "platform/report/report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "platform/report/table.h"

namespace attnvp::report {

namespace {

constexpr std::uint64_t kWordBytes = 2;
const char* const kEnergyParts[] = {"dram", "l1", "l0", "mac", "vec"};

std::uint64_t read_bytes(const job::Result& r, const char* memory) { return r.sum(memory, "read_words") * kWordBytes; }
std::uint64_t write_bytes(const job::Result& r, const char* memory) {
  return r.sum(memory, "write_words") * kWordBytes;
}

std::string golden_text(const job::Result& r) {
  if (!r.golden_checked) return "not checked";
  return r.golden.passed ? "passed" : "FAILED";
}

// Share of all workers' time in which they compute, if all tiles take as long.
double occupancy(const job::Result& r) {
  return static_cast<double>(r.partition.tiles) /
         (static_cast<double>(r.partition.most) * static_cast<double>(r.workers.size()));
}

}  // namespace

std::string to_json(const job::Result& r, const std::string& hardware, const std::string& timeline) {
  using nlohmann::ordered_json;
  ordered_json j;
  j["schema"] = 1;
  j["hardware"] = hardware;
  j["network"] = {{"name", r.network.name},   {"batch", r.network.batch},   {"heads", r.network.heads},
                  {"seq_q", r.network.seq_q}, {"seq_kv", r.network.seq_kv}, {"emb", r.network.emb}};
  if (r.network.heads_of_kv() != r.network.heads) j["network"]["kv_heads"] = r.network.heads_of_kv();
  if (r.network.ragged()) j["network"]["contexts"] = r.network.contexts;
  j["dataflow"] = r.schedule.text;
  const hal::Tiling& t = r.schedule.tiling;
  j["tiling"] = {{"bb", t.bb}, {"hh", t.hh}, {"nq", t.nq}, {"nkv", t.nkv}, {"m0", t.m0}, {"n0", t.n0}, {"k0", t.k0}};
  if (t.kv_buffers == hal::kKvStream) {
    j["tiling"]["kv"] = "stream";
  } else {
    j["tiling"]["kv"] = t.kv_buffers;
  }
  j["tiling"]["rb"] = t.row_buffers;
  j["cycles"] = r.cycles;
  j["frequency_hz"] = r.frequency_hz;
  j["seconds"] = r.seconds();
  j["golden"] = {{"checked", r.golden_checked},
                 {"passed", r.golden_checked && r.golden.passed},
                 {"max_abs_error", r.golden.max_abs_error},
                 {"max_ulp_error", r.golden.max_ulp_error}};
  j["utilization"] = {
      {"mac", r.utilization.mac}, {"vec", r.utilization.vec}, {"dma", r.utilization.dma}, {"dram", r.utilization.dram}};
  for (const char* memory : {"dram", "l1", "l0"}) {
    j[memory] = {{"read_bytes", read_bytes(r, memory)}, {"write_bytes", write_bytes(r, memory)}};
  }
  j["l1"]["peak_bytes"] = r.max("l1", "peak_bytes");
  j["l0"]["peak_bytes"] = r.max("l0", "peak_bytes");
  j["overwrites"] = {{"count", r.k_overwrites + r.v_overwrites},
                     {"reload_bytes", r.reload_bytes},
                     {"k", r.k_overwrites},
                     {"v", r.v_overwrites}};
  if (!r.workers.empty()) {
    const hal::Partition& p = r.partition;
    ordered_json& of = j["partition"];
    of = {{"tiles", p.tiles}, {"workers", p.workers}, {"max", p.most}, {"high_load", p.most_workers}};
    if (p.splits > 0) of["splits"] = p.splits;
    of["occupancy"] = occupancy(r);
    for (const job::Worker& w : r.workers) {
      const std::string mac = fmt::format("cluster{}.core{}.mac", w.cluster, w.core);
      j["workers"].push_back({{"cluster", w.cluster},
                              {"core", w.core},
                              {"tiles", w.tiles},
                              {"mac_busy_cycles", r.sum(mac, "busy_cycles")}});
    }
  }
  j["energy_pj"]["total"] = r.total_energy_pj();
  for (const char* part : kEnergyParts) j["energy_pj"][part] = r.energy_pj(part);
  j["machine"] = {{"macs_per_cycle", r.peak.macs_per_cycle},
                  {"vec_lanes", r.peak.vec_lanes},
                  {"dram_bytes_per_cycle", r.peak.dram_bytes_per_cycle},
                  {"l1_bytes_per_cycle", r.peak.l1_bytes_per_cycle},
                  {"l1_bytes", r.peak.l1_bytes}};
  if (!timeline.empty()) j["timeline"] = timeline;
  for (const job::CounterValue& c : r.counters) j["counters"][c.module][c.name] = c.value;
  j["simulation"] = {{"wall_seconds", r.wall_seconds}, {"events", r.events}};
  return j.dump(2) + "\n";
}

std::string to_text(const job::Result& r, const std::string& hardware) {
  std::string out;
  const auto line = [&out](const char* name, const std::string& value) {
    out += fmt::format("{:<13}{}\n", name, value);
  };
  const config::Network& n = r.network;
  line("machine", hardware);
  const std::string groups = n.heads_of_kv() == n.heads ? "" : fmt::format(" on {} of K and V", n.heads_of_kv());
  line("network", fmt::format("{}  (batch {}, {} heads{}, {} x {}{}, {} per head)", n.name, n.batch, n.heads, groups,
                              n.seq_q, n.ragged() ? "up to " : "", n.seq_kv, n.emb));
  std::string tiling;
  for (const auto& [key, value] : job::tiling_text(r.schedule.tiling)) tiling += fmt::format(" {}={}", key, value);
  line("dataflow", r.schedule.text);
  line("tiling", tiling.substr(1));
  if (!r.workers.empty()) {
    const hal::Partition& p = r.partition;
    line("partition", fmt::format("{} tiles on {} workers: {} of them have {}, the others fewer; occupancy {}", p.tiles,
                                  p.workers, p.most_workers, p.most, percent(occupancy(r))));
  }
  line("cycles", with_commas(r.cycles));
  line("time", fmt::format("{} at {}", with_prefix(r.seconds(), "s"), with_prefix(r.frequency_hz, "Hz")));
  std::string golden = golden_text(r);
  if (r.golden_checked) {
    golden += fmt::format("  (max error {:.3g}, {} ulp)", r.golden.max_abs_error, r.golden.max_ulp_error);
    if (!r.golden.passed) golden += "\n             " + r.golden.to_string();
  }
  line("golden", golden);
  if (r.k_overwrites + r.v_overwrites > 0) {
    line("overwrites", fmt::format("{} of K, {} of V  ({} loaded again)", r.k_overwrites, r.v_overwrites,
                                   with_prefix(static_cast<double>(r.reload_bytes), "B")));
  }
  out += "\n";

  Table busy;
  busy.column("busy", Table::Align::kLeft);
  busy.column("share");
  busy.row({"MAC", percent(r.utilization.mac)});
  busy.row({"VEC", percent(r.utilization.vec)});
  busy.row({"DMA", percent(r.utilization.dma)});
  busy.row({"DRAM bus", percent(r.utilization.dram)});
  out += busy.text() + "\n";

  Table traffic;
  traffic.column("memory", Table::Align::kLeft);
  traffic.column("read");
  traffic.column("written");
  traffic.column("peak use");
  const auto bytes = [](std::uint64_t b) { return with_prefix(static_cast<double>(b), "B"); };
  traffic.row({"DRAM", bytes(read_bytes(r, "dram")), bytes(write_bytes(r, "dram")), ""});
  traffic.row({"L1", bytes(read_bytes(r, "l1")), bytes(write_bytes(r, "l1")), bytes(r.max("l1", "peak_bytes"))});
  traffic.row({"L0", bytes(read_bytes(r, "l0")), bytes(write_bytes(r, "l0")), bytes(r.max("l0", "peak_bytes"))});
  out += traffic.text() + "\n";

  Table energy;
  energy.column("energy", Table::Align::kLeft);
  energy.column("spent");
  energy.column("share");
  const double total = r.total_energy_pj();
  for (const char* part : kEnergyParts) {
    energy.row({part, with_prefix(r.energy_pj(part) * 1e-12, "J"), percent(total > 0 ? r.energy_pj(part) / total : 0)});
  }
  energy.row({"total", with_prefix(total * 1e-12, "J"), "100.0%"});
  return out + energy.text();
}

std::string comparison(const std::vector<job::Result>& results) {
  Table table;
  table.column("dataflow", Table::Align::kLeft);
  for (const char* title : {"cycles", "time", "MAC busy", "VEC busy", "DRAM traffic", "energy", "golden"}) {
    table.column(title);
  }
  if (!results.empty()) table.column(results.back().schedule.text + " is faster by");
  for (const job::Result& r : results) {
    const double traffic = static_cast<double>(read_bytes(r, "dram") + write_bytes(r, "dram"));
    const double ratio = static_cast<double>(r.cycles) / static_cast<double>(results.back().cycles);
    table.row({r.schedule.text, with_commas(r.cycles), with_prefix(r.seconds(), "s"), percent(r.utilization.mac),
               percent(r.utilization.vec), with_prefix(traffic, "B"), with_prefix(r.total_energy_pj() * 1e-12, "J"),
               golden_text(r), &r == &results.back() ? "" : fmt::format("{:.2f}x", ratio)});
  }
  return table.text();
}

}  // namespace attnvp::report
