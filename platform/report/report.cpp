#include "platform/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "models/engine/descriptor_check.h"
#include "platform/report/json.h"
#include "platform/report/table.h"

namespace attnvp::report {

namespace {

constexpr std::uint64_t kWordBytes = 2;

std::uint64_t read_bytes(const job::RunResult& r, const std::string& memory) {
  return r.sum(memory, "read_words") * kWordBytes;
}
std::uint64_t write_bytes(const job::RunResult& r, const std::string& memory) {
  return r.sum(memory, "write_words") * kWordBytes;
}

// Share of time in which workers compute, if all tiles take equally long.
double occupancy(const job::RunResult& r) {
  return static_cast<double>(r.statistic("partition.tiles")) /
         (static_cast<double>(r.statistic("partition.max")) * static_cast<double>(r.workers.size()));
}

// New tokens of all requests per second, if all layers take as long.
double tokens_per_second(const job::RunResult& r) {
  const workload::Attention& a = r.network.attention();
  return static_cast<double>(a.query_elements() / a.heads / a.emb) / (r.seconds() * r.network.model.layers);
}

}  // namespace

std::string golden_text(const job::RunResult& r) {
  if (!r.golden_checked) return "not checked";
  return r.golden.passed ? "passed" : "FAILED";
}

std::string resource_name(const std::string& resource) {
  static const std::map<std::string, std::string> kNames = {{"mac", "MAC"},
                                                            {"vec", "VEC"},
                                                            {"dram", "DRAM"},
                                                            {"l1_port", "L1 port"},
                                                            {"l1_bank", "L1 bank"},
                                                            {"l2", "L2"},
                                                            {"control", "control processor"},
                                                            {"dma", "DMA"},
                                                            {"network", "network"}};
  return kNames.at(resource);
}

nlohmann::ordered_json golden_json(const job::RunResult& r) {
  nlohmann::ordered_json j = {
      {"checked", r.golden_checked},
      {"passed", r.golden_checked ? nlohmann::ordered_json(r.golden.passed) : nlohmann::ordered_json()},
      {"max_abs_error", r.golden.max_abs_error},
      {"max_ulp_error", r.golden.max_ulp_error}};
  if (r.golden_checked && !r.golden.passed) j["failure"] = r.golden.to_string();
  return j;
}

nlohmann::ordered_json tiling_json(const job::Schedule& schedule) {
  nlohmann::ordered_json j;
  for (const auto& [name, value] : job::tiling_text(schedule.tiling)) {
    const std::uint32_t number = schedule.tiling[name];
    if (value == std::to_string(number)) {
      j[name] = number;
    } else {
      j[name] = value;
    }
  }
  return j;
}

// Stall attribution; reasons below half a percent everywhere are omitted.
Table time_table(const job::RunResult& r) {
  const std::pair<const char*, const char*> kinds[] = {
      {"mac", "MAC"}, {"vec", "VEC"}, {"dma", "DMA channels"}, {"control", "control"}};
  Table table;
  table.column("time", Table::Align::kLeft);
  std::vector<std::string> reasons;
  std::vector<std::map<std::string, double>> shares;
  for (const auto& [kind, title] : kinds) {
    table.column(title);
    std::map<std::string, double>& share = shares.emplace_back();
    for (const auto& [reason, value] : job::mean_shares(r.unit_times, kind)) {
      share[reason] = value;
      const bool known = std::find(reasons.begin(), reasons.end(), reason) != reasons.end();
      if (value >= 0.005 && !known) reasons.push_back(reason);
    }
  }
  for (const std::string& reason : reasons) {
    std::vector<std::string> row{reason};
    for (const auto& share : shares) {
      const auto found = share.find(reason);
      row.push_back(found == share.end() ? "" : percent(found->second));
    }
    table.row(row);
  }
  return table;
}

namespace {

std::string settings_text(const job::Advice& a) {
  std::string text;
  for (const job::Advice::AdvisedSetting& s : a.settings)
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", s.key, s.value);
  return text;
}

// Measured gain: "tried vec.lanes=512 with the same tiling: 1.10x, +0.23 mm2".
std::string gain_text(const job::Advice& a) {
  const job::Advice::Measured& measured = *a.tried;
  std::string what = settings_text(a);
  if (a.same_tiling) what += " with the same tiling";
  if (!measured.tiling.empty()) what += (what.empty() ? "" : " with ") + measured.tiling;
  std::string text = fmt::format("tried {}: {:.2f}x", what, measured.speedup);
  if (std::abs(measured.area_mm2) >= 0.005) text += fmt::format(", {:+.2f} mm2", measured.area_mm2);
  return text;
}

// Upper limit of a gain: "at twice the lanes of VEC (vec.lanes) and the same tiling at most 1.20x, then MAC binds".
std::string promise(const job::Advice& a, const std::string& bound_by) {
  if (a.tried) return gain_text(a);
  std::string key;
  for (const job::Advice::AdvisedSetting& s : a.settings) key += (key.empty() ? " (" : ", ") + s.key;
  if (!key.empty()) key += ")";
  const std::string then = fmt::format("then {} {}binds", resource_name(a.then), a.then == bound_by ? "still " : "");
  if (a.same_tiling) {
    return fmt::format("at {}{} and the same tiling at most {:.2f}x, {}", a.words, key, a.at_most, then);
  }
  return fmt::format("with {}{} at most {:.2f}x, {}; {}", a.words, key, a.at_most, then, a.reason);
}

std::string bound_sentence(const job::Bound& b) {
  const std::string name = resource_name(b.most.resource);
  const double ragged = b.run_cycles > 0 ? b.ragged_cycles / b.run_cycles : 0;
  const std::string use = ragged < 0.005
                              ? percent(b.share()) + " busy"
                              : fmt::format("{} useful, {} ragged edges", percent(b.share() - ragged), percent(ragged));
  return b.share() < 0.5 ? fmt::format("no resource is half busy, the schedule waits: {} {}", name, use)
                         : fmt::format("{} bound: {}", name, use);
}

std::string bound_sentence(const job::Bound& b, const job::Advice& advice) {
  return bound_sentence(b) + "; " + promise(advice, b.most.resource);
}

}  // namespace

std::string bound_text(const job::Bound& b) {
  return b.advice.empty() ? bound_sentence(b) : bound_sentence(b, b.advice.front());
}

namespace {

nlohmann::ordered_json advice_json(const job::Bound& b) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const job::Advice& a : b.advice) {
    nlohmann::ordered_json settings = nlohmann::ordered_json::object();
    for (const job::Advice::AdvisedSetting& s : a.settings) settings[s.key] = s.value;
    all.push_back({{"key", a.key},
                   {"factor", a.factor},
                   {"settings", settings},
                   {"same_tiling", a.same_tiling},
                   {"speedup_at_most", a.at_most},
                   {"then", a.then},
                   {"reason", a.reason},
                   {"text", bound_sentence(b, a)}});
    if (!a.tried) continue;
    all.back()["tried"] = {{"speedup", a.tried->speedup}, {"area_mm2", a.tried->area_mm2}};
    if (!a.tried->tiling.empty()) all.back()["tried"]["tiling"] = a.tried->tiling;
  }
  return all;
}

nlohmann::ordered_json network_json(const workload::Workload& w) {
  const workload::Extents e = w.extents();
  nlohmann::ordered_json j = {{"name", w.name()}, {"batch", e.batch},   {"heads", e.heads},
                              {"seq_q", e.seq_q}, {"seq_kv", e.seq_kv}, {"emb", e.emb}};
  const auto add_types = [&] {
    if (!w.is_typed()) return;
    j["type"] = attnvp::name_of(w.type());
    j["out"] = attnvp::name_of(w.out());
    if (const workload::WeightType weights = w.weights(); weights.any()) {
      j["weights"] = weights.format->name;
      j["group"] = weights.group;
    }
  };
  if (!w.is_attention()) {
    add_types();
    return j;
  }
  const workload::Attention& a = w.attention();
  if (a.heads_of_kv() != a.heads) j["kv_heads"] = a.heads_of_kv();
  if (a.ragged()) j["contexts"] = a.contexts;
  if (a.mask.any()) {
    j["mask"] = {{"causal", a.mask.causal != 0}, {"history", a.mask.history}, {"window", a.mask.window},
                 {"sinks", a.mask.sinks},        {"prefix", a.mask.prefix},   {"visible_scores", a.visible_scores()}};
    for (const hal::MaskKindInfo& kind : hal::kMaskKinds) {
      if (kind.hides != nullptr && (a.mask.bits & kind.bit) != 0) j["mask"][kind.name] = true;
    }
  }
  if (a.scale != 1) j["scale"] = a.scale;
  if (a.soft_cap > 0) j["softcap"] = a.soft_cap;
  if (a.sink) j["sink"] = true;
  if (a.value_emb > 0) j["value_emb"] = a.value_emb;
  add_types();
  if (w.model.layers > 1) j["layers"] = w.model.layers;
  if (w.model.blocks.size() > 1) j["block"] = w.model.blocks[w.model.block].name;
  if (a.page > 0) j["page"] = a.page;
  for (const workload::Request& q : a.requests) {
    j["requests"].push_back({{"new_tokens", q.new_tokens}, {"cached_tokens", q.cached_tokens}});
  }
  return j;
}

}  // namespace

std::string to_json(const job::RunResult& r, const std::string& hardware, const JsonParts& parts) {
  using nlohmann::ordered_json;
  ordered_json j = json_document();
  j["hardware"] = hardware;
  if (!parts.machine_hash.empty()) {
    add_machine(j, parts.machine_hash, parts.overrides);
    if (r.golden_checked) j["seed"] = parts.seed;
  }
  j["network"] = network_json(r.network);
  j["dataflow"] = r.schedule.text;
  if (const ordered_json tiling = tiling_json(r.schedule); !tiling.empty()) j["tiling"] = tiling;
  j["cycles"] = r.cycles;
  j["frequency_hz"] = r.frequency_hz;
  j["seconds"] = r.seconds();
  if (const std::uint32_t layers = r.network.model.layers; layers > 1) {
    j["model"] = {{"seconds", r.seconds() * layers}, {"tokens_per_second", tokens_per_second(r)}};
  }
  j["golden"] = golden_json(r);
  j["utilization"] = {
      {"mac", r.utilization.mac}, {"vec", r.utilization.vec}, {"dma", r.utilization.dma}, {"dram", r.utilization.dram}};
  for (const std::string& memory : r.memories()) {
    j[memory] = {{"read_bytes", read_bytes(r, memory)}, {"write_bytes", write_bytes(r, memory)}};
    if (r.has(memory, "peak_bytes")) j[memory]["peak_bytes"] = r.max(memory, "peak_bytes");
  }
  j["overwrites"] = {{"count", 0}, {"reload_bytes", 0}, {"k", 0}, {"v", 0}};
  for (const auto& [name, value] : r.statistics) {
    if (name == "partition.splits" && value == 0) continue;  // no divided tiles
    ordered_json* at = &j;
    std::size_t from = 0;
    for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', from)) {
      at = &(*at)[name.substr(from, dot - from)];
      from = dot + 1;
    }
    (*at)[name.substr(from)] = value;
  }
  if (!r.workers.empty()) {
    j["partition"]["occupancy"] = occupancy(r);
    for (const job::Worker& w : r.workers) {
      const std::string mac = fmt::format("cluster{}.core{}.mac", w.cluster, w.core);
      j["workers"].push_back({{"cluster", w.cluster},
                              {"core", w.core},
                              {"tiles", w.tiles},
                              {"mac_busy_cycles", r.sum(mac, "busy_cycles")}});
    }
  }
  j["energy_pj"]["total"] = r.total_energy_pj();
  for (const std::string& part : r.energy_parts()) j["energy_pj"][part] = r.energy_pj(part);
  j["bound"] = {{"resource", r.bound.most.resource}, {"cycles", r.bound.most.cycles}, {"share", r.bound.share()}};
  for (const job::Demand& d : r.bound.demands) j["bound"]["demands"][d.resource] = d.cycles;
  j["bound"]["advice"] = advice_json(r.bound);
  for (const job::UnitTime& unit : r.unit_times) {
    ordered_json& cycles = j["time"][unit.unit];
    for (const auto& [reason, n] : unit.cycles) cycles[reason] = n;
  }
  add_imbalance(j, job::imbalance_of(r));
  add_power(j, r);
  if (parts.energy_range) add_energy_range(j, r);
  j["machine"] = {{"macs_per_cycle", r.peak.macs_per_cycle},
                  {"vec_lanes", r.peak.vec_lanes},
                  {"dram_bytes_per_cycle", r.peak.dram_bytes_per_cycle},
                  {"l1_bytes_per_cycle", r.peak.l1_bytes_per_cycle},
                  {"l1_bytes", r.peak.l1_bytes}};
  if (parts.least_cycles > 0) {
    j["auto"] = {{"least_cycles", parts.least_cycles}, {"beaten", ordered_json::array()}};
    for (const Alternative& a : parts.beaten) {
      j["auto"]["beaten"].push_back({{"dataflow", a.dataflow},
                                     {"estimated_cycles", a.estimated_cycles},
                                     {"cycles", a.cycles == 0 ? ordered_json() : ordered_json(a.cycles)}});
    }
  }
  if (!parts.timeline.empty()) j["timeline"] = parts.timeline;
  for (const job::CounterValue& c : r.counters) j["counters"][c.module][c.name] = c.value;
  j["simulation"] = {{"wall_seconds", r.wall_seconds}, {"events", r.events}, {"skipped_cycles", r.skipped_cycles}};
  return json_text(j);
}

std::string to_text(const job::RunResult& r, const std::string& hardware) {
  std::string out;
  const auto line = [&out](const char* name, const std::string& value) {
    out += fmt::format("{:<13}{}\n", name, value);
  };
  line("machine", hardware);
  const workload::Extents e = r.network.extents();
  const workload::Attention* const a = r.network.is_attention() ? &r.network.attention() : nullptr;
  const bool grouped = a != nullptr && a->heads_of_kv() != a->heads;
  const std::string groups = grouped ? fmt::format(" on {} of K and V", a->heads_of_kv()) : "";
  line("network", fmt::format("{}  (batch {}, {} heads{}, {} x {}{}, {} per head)", r.network.name(), e.batch, e.heads,
                              groups, e.seq_q, a != nullptr && a->ragged() ? "up to " : "", e.seq_kv, e.emb));
  if (const std::string block = r.network.model.block_text(); a != nullptr && !block.empty()) line("block", block);
  if (const std::string rules = r.network.rules(); !rules.empty()) line("rules", rules.substr(1));
  line("dataflow", r.schedule.text);
  line("tiling", job::tiling_line(r.schedule.tiling) + "  (see `attnvp describe tiling`)");
  if (!r.workers.empty()) {
    line("partition",
         fmt::format("{} tiles on {} workers: {} of them have {}, the others fewer; occupancy {}",
                     r.statistic("partition.tiles"), r.statistic("partition.workers"),
                     r.statistic("partition.high_load"), r.statistic("partition.max"), percent(occupancy(r))));
  }
  line("cycles", with_commas(r.cycles));
  line("time", fmt::format("{} at {}", with_prefix(r.seconds(), "s"), with_prefix(r.frequency_hz, "Hz")));
  if (const std::uint32_t layers = r.network.model.layers; layers > 1) {
    line("model", fmt::format("attention of {} layers {}, {:.5g} tokens a second", layers,
                              with_prefix(r.seconds() * layers, "s"), tokens_per_second(r)));
  }
  std::string golden = golden_text(r);
  if (r.golden_checked) {
    golden += fmt::format("  (max error {:.3g}, {} ulp)", r.golden.max_abs_error, r.golden.max_ulp_error);
    if (!r.golden.passed) golden += "\n             " + r.golden.to_string();
  }
  line("golden", golden);
  if (r.sum("cpu", "instructions") > 0) {
    const auto instructions = static_cast<double>(r.sum("cpu", "instructions"));
    const auto working = static_cast<double>(r.sum("cpu", "hart_cycles") - r.sum("cpu", "hart_stalls"));
    const double commands = static_cast<double>(std::max<std::uint64_t>(r.sum("cpu", "doorbells"), 1));
    line("control", fmt::format("{} instructions at CPI {:.2f}, {:.0f} cycles of its clock a command",
                                with_commas(r.sum("cpu", "instructions")), working / instructions, working / commands));
  }
  if (r.statistic("overwrites.count") > 0) {
    line("overwrites",
         fmt::format("{} of K, {} of V  ({} loaded again)", r.statistic("overwrites.k"), r.statistic("overwrites.v"),
                     with_prefix(static_cast<double>(r.statistic("overwrites.reload_bytes")), "B")));
  }
  out += "\n";

  Table busy;
  busy.column("busy", Table::Align::kLeft);
  busy.column("share");
  busy.row({"MAC", percent(r.utilization.mac)});
  busy.row({"VEC", percent(r.utilization.vec)});
  busy.row({"DMA", percent(r.utilization.dma)});
  busy.row({"DRAM bus", percent(r.utilization.dram)});
  out += busy.text(text::line_width()) + "\n";

  out += time_table(r).text(text::line_width()) + "\n";
  if (!r.bound.advice.empty()) {
    out += bound_sentence(r.bound, r.bound.advice.front()) + "\n";
  } else if (!r.bound.most.resource.empty()) {
    out += bound_sentence(r.bound) + (r.bound.advice_tried ? "; no change that was tried makes it 1% faster\n" : "\n");
  }
  out += "\n";
  out += imbalance_text(job::imbalance_of(r));

  Table traffic;
  traffic.column("memory", Table::Align::kLeft);
  traffic.column("read");
  traffic.column("written");
  traffic.column("peak use");
  const auto bytes = [](std::uint64_t b) { return with_prefix(static_cast<double>(b), "B"); };
  for (const std::string& memory : r.memories()) {
    traffic.row({upper(memory), bytes(read_bytes(r, memory)), bytes(write_bytes(r, memory)),
                 r.has(memory, "peak_bytes") ? bytes(r.max(memory, "peak_bytes")) : ""});
  }
  out += traffic.text(text::line_width()) + "\n";

  Table energy;
  energy.column("energy", Table::Align::kLeft);
  energy.column("spent");
  energy.column("share");
  const double total = r.total_energy_pj();
  for (const std::string& part : r.energy_parts()) {
    energy.row({part, with_prefix(r.energy_pj(part) * 1e-12, "J"), percent(total > 0 ? r.energy_pj(part) / total : 0)});
  }
  energy.row({"total", with_prefix(total * 1e-12, "J"), "100.0%"});
  return out + energy.text(text::line_width()) + actions_text(r) + "\n" + power_text(r);
}

namespace {

bool many_clusters(const job::Imbalance& i) { return i.macs.each.size() > 1; }
bool many_cores(const job::Imbalance& i) { return i.core_macs.each.size() > i.macs.each.size(); }

nlohmann::ordered_json dealt_json(const job::Dealt& d) {
  return {{"most", d.most()}, {"mean", d.mean()}, {"ratio", d.ratio()}, {"each", d.each}};
}

}  // namespace

void add_imbalance(nlohmann::ordered_json& document, const job::Imbalance& i) {
  if (many_clusters(i)) {
    document["imbalance"]["clusters"] = {{"macs", dealt_json(i.macs)},
                                         {"vec_cycles", dealt_json(i.vec_cycles)},
                                         {"dma_bytes", dealt_json(i.dma_bytes)},
                                         {"end_cycle", i.end},
                                         {"first", i.first()},
                                         {"last", i.last()}};
  }
  if (many_cores(i)) {
    document["imbalance"]["cores"] = {{"macs", dealt_json(i.core_macs)}, {"vec_cycles", dealt_json(i.core_vec_cycles)}};
  }
}

std::string imbalance_text(const job::Imbalance& i) {
  Table table;
  table.column("dealt", Table::Align::kLeft);
  for (const char* title : {"most", "mean", "most/mean"}) table.column(title);
  const auto row = [&](const char* what, const job::Dealt& d) {
    if (d.total() == 0) return;
    table.row({what, with_commas(d.most()), with_commas(static_cast<unsigned long long>(d.mean() + 0.5)),
               fmt::format("{:.2f}", d.ratio())});
  };
  if (!many_clusters(i) && !many_cores(i)) return {};
  if (many_clusters(i)) {
    row("MACs of clusters", i.macs);
    row("VEC cycles of clusters", i.vec_cycles);
    row("DMA bytes of clusters", i.dma_bytes);
  }
  if (many_cores(i)) {
    row("MACs of cores", i.core_macs);
    row("VEC cycles of cores", i.core_vec_cycles);
  }
  std::string out = table.text(text::line_width());
  if (many_clusters(i)) {
    out += fmt::format("cluster {} ends first, after {} cycles, cluster {} last, after {}\n", i.first(),
                       with_commas(i.end[i.first()]), i.last(), with_commas(i.end[i.last()]));
  }
  return out + "\n";
}

}  // namespace attnvp::report
