#include <fmt/format.h>

#include <algorithm>

#include "platform/base/origin.h"
#include "platform/report/json.h"
#include "platform/report/table.h"
#include "platform/streaming/stream_run.h"

namespace attnvp::stream {

namespace {

using report::Table;
using report::with_commas;
using report::with_prefix;

std::string golden_text(const StreamGoldenResult& g) {
  if (!g.checked) return "not checked";
  if (g.passed) return fmt::format("passed  (max error {:.3g})", g.max_abs_error);
  return "FAILED\n             " + g.to_string();
}

std::string end_text(const Graph& graph, const ChannelSpec& channel, bool from) {
  const NodeSpec& node = graph.nodes[from ? channel.from : channel.to];
  const auto& ports = from ? node.operation->outputs : node.operation->inputs;
  return ports.size() == 1 ? node.name : node.name + "." + port_name(graph, channel, from);
}

std::string channel_table(const StreamResult& r) {
  Table table;
  for (const char* title : {"channel", "from", "to", "carries"}) table.column(title, Table::Align::kLeft);
  for (const char* title : {"transfers", "depth", "peak"}) table.column(title);
  for (std::size_t c = 0; c < r.channels.size(); ++c) {
    const ChannelSpec& spec = r.graph.channels[c];
    table.row({spec.name, end_text(r.graph, spec, true), end_text(r.graph, spec, false), type_text(spec),
               with_commas(r.channels[c].transfers), spec.depth == kUnbounded ? "unbounded" : with_commas(spec.depth),
               with_commas(r.channels[c].peak)});
  }
  return table.text(text::line_width());
}

std::string node_table(const StreamResult& r) {
  Table table;
  for (const char* title : {"node", "operation"}) table.column(title, Table::Align::kLeft);
  for (const char* title : {"ii", "latency", "busy", "starved", "stalled"}) table.column(title);
  const auto share = [&](std::uint64_t cycles) {
    return report::percent(static_cast<double>(cycles) / static_cast<double>(std::max<std::uint64_t>(r.cycles, 1)));
  };
  for (std::size_t i = 0; i < r.nodes.size(); ++i) {
    const NodeSpec& spec = r.graph.nodes[i];
    const NodeResult& n = r.nodes[i];
    table.row({spec.name, spec.operation->name, with_commas(spec.ii), with_commas(spec.latency), share(n.busy),
               share(n.starved), share(n.stalled)});
  }
  return table.text(text::line_width());
}

std::string wait_text(const Graph& graph, const Blocked& b) {
  return fmt::format("{} waits for {} '{}' since cycle {}", graph.nodes[b.node].name,
                     b.for_space ? "room in" : "data from", graph.channels[b.channel].name, b.since);
}

// "score -> div -> row_sum -> score"
std::string circle_text(const StreamResult& r) {
  std::string text;
  for (const std::size_t i : r.deadlock.circle) text += r.graph.nodes[r.deadlock.blocked[i].node].name + " -> ";
  return text + r.graph.nodes[r.deadlock.blocked[r.deadlock.circle.front()].node].name;
}

std::string freed_text(const StreamResult& r) {
  if (r.deadlock.freed_by.empty()) return "no depth frees it";
  std::string depths;
  for (const auto& [channel, depth] : r.deadlock.freed_by) {
    depths += fmt::format("{}{}={}", depths.empty() ? "" : ", ", r.graph.channels[channel].name, depth);
  }
  return fmt::format("{}, {} cycles then", depths, with_commas(r.deadlock.freed_cycles));
}

}  // namespace

std::string deadlock_sentence(const StreamResult& r) {
  std::string waits;
  std::vector<std::size_t> order = r.deadlock.circle;
  if (order.empty()) order.push_back(0);
  for (const std::size_t i : order) {
    waits += fmt::format("{}{}", waits.empty() ? "" : ", ", wait_text(r.graph, r.deadlock.blocked[i]));
  }
  return fmt::format("deadlock at cycle {}: {}; smallest depth that frees it: {}", r.cycles, waits, freed_text(r));
}

namespace {
std::string mask_text(const hal::Mask& m) {
  std::string text;
  if (m.causal != 0) text += ", causal";
  if (m.window > 0) text += fmt::format(", window {}", m.window);
  if (m.sinks > 0) text += fmt::format(", sinks {}", m.sinks);
  return text;
}
}  // namespace

std::string to_text(const StreamResult& r) {
  std::string out;
  const auto line = [&out](const char* name, const std::string& value) {
    out += fmt::format("{:<13}{}\n", name, value);
  };
  line("graph", r.graph.name);
  line("problem", fmt::format("N={}, d={}{}: {} scores", r.graph.n, r.graph.d, mask_text(r.graph.mask),
                              with_commas(r.graph.scores())));
  line("cycles", with_commas(r.cycles) + (r.deadlocked ? ", then a deadlock" : ""));
  line("time", fmt::format("{} at {}", with_prefix(r.seconds(), "s"), with_prefix(r.graph.clock_hz, "Hz")));
  if (!r.deadlocked) line("throughput", fmt::format("{:.4f} scores per cycle", r.scores_per_cycle()));
  line("golden", golden_text(r.golden));
  line("memory",
       fmt::format("{} at most between nodes", with_prefix(static_cast<double>(r.intermediate_bytes()), "B")));
  line("energy",
       fmt::format("{}  (channels {}, nodes {})", with_prefix(r.energy_pj("") * 1e-12, "J"),
                   with_prefix(r.energy_pj("channels") * 1e-12, "J"), with_prefix(r.energy_pj("nodes") * 1e-12, "J")));
  out += "\n" + channel_table(r) + "\n" + node_table(r);
  if (!r.deadlocked) return out;

  Table waits;
  for (const char* title : {"node", "waits for", "channel"}) waits.column(title, Table::Align::kLeft);
  waits.column("since cycle");
  waits.column("of node", Table::Align::kLeft);
  for (const Blocked& b : r.deadlock.blocked) {
    waits.row({r.graph.nodes[b.node].name, b.for_space ? "room" : "data", r.graph.channels[b.channel].name,
               with_commas(b.since), r.graph.nodes[b.on].name});
  }
  out += "\n" + waits.text(text::line_width()) + "\n";
  if (!r.deadlock.circle.empty()) line("circle", circle_text(r));
  line("freed by", freed_text(r));
  return out;
}

std::string to_json(const StreamResult& r) {
  using nlohmann::ordered_json;
  ordered_json j = report::json_document();
  j["graph"] = r.graph.name;
  j["n"] = r.graph.n;
  j["d"] = r.graph.d;
  if (r.graph.mask.any()) {
    const hal::Mask& m = r.graph.mask;
    j["mask"] = {{"causal", m.causal != 0}, {"window", m.window}, {"sinks", m.sinks}};
  }
  j["cycles"] = r.cycles;
  j["frequency_hz"] = r.graph.clock_hz;
  j["seconds"] = r.seconds();
  j["scores_per_cycle"] = r.deadlocked ? 0.0 : r.scores_per_cycle();
  j["golden"] = {{"checked", r.golden.checked}, {"passed", r.golden.passed}, {"max_abs_error", r.golden.max_abs_error}};
  j["deadlock"] = r.deadlocked;
  if (r.deadlocked) {
    const auto name_of = [&](const Blocked& b) { return r.graph.nodes[b.node].name; };
    j["waits"] = ordered_json::array();
    for (const Blocked& b : r.deadlock.blocked) {
      j["waits"].push_back({{"node", name_of(b)},
                            {"for", b.for_space ? "room" : "data"},
                            {"channel", r.graph.channels[b.channel].name},
                            {"since", b.since},
                            {"of", r.graph.nodes[b.on].name}});
    }
    j["circle"] = ordered_json::array();
    for (const std::size_t i : r.deadlock.circle) j["circle"].push_back(name_of(r.deadlock.blocked[i]));
    j["freed_by"] = ordered_json::object();
    for (const auto& [channel, depth] : r.deadlock.freed_by) j["freed_by"][r.graph.channels[channel].name] = depth;
    if (!r.deadlock.freed_by.empty()) j["freed_cycles"] = r.deadlock.freed_cycles;
  }
  for (std::size_t c = 0; c < r.channels.size(); ++c) {
    const ChannelSpec& spec = r.graph.channels[c];
    ordered_json& channel = j["channels"][spec.name];
    channel["depth"] = spec.depth == kUnbounded ? ordered_json() : ordered_json(spec.depth);
    channel["peak"] = r.channels[c].peak;
    channel["transfers"] = r.channels[c].transfers;
    channel["element_bytes"] = spec.width * sizeof(float);
  }
  for (std::size_t i = 0; i < r.nodes.size(); ++i) {
    const NodeResult& n = r.nodes[i];
    j["nodes"][r.graph.nodes[i].name] = {
        {"firings", n.firings}, {"busy_cycles", n.busy}, {"starved_cycles", n.starved}, {"stalled_cycles", n.stalled}};
  }
  j["intermediate_bytes"] = r.intermediate_bytes();
  j["energy_pj"] = {{"total", r.energy_pj("")}, {"channels", r.energy_pj("channels")}, {"nodes", r.energy_pj("nodes")}};
  for (const job::CounterValue& c : r.counters) j["counters"][c.module][c.name] = c.value;
  j["simulation"] = {
      {"wall_seconds", r.wall_seconds},
      {"transfers", r.transfers},
      {"transfers_per_second", r.wall_seconds > 0 ? static_cast<double>(r.transfers) / r.wall_seconds : 0}};
  return report::json_text(j);
}

std::string to_dot(const StreamResult& r) {
  std::vector<bool> red_node(r.graph.nodes.size()), red_channel(r.graph.channels.size());
  for (const std::size_t i : r.deadlock.circle) {
    red_node[r.deadlock.blocked[i].node] = true;
    red_channel[r.deadlock.blocked[i].channel] = true;
  }
  std::string out = fmt::format(
      "digraph \"{}\" {{\n  label=\"{}, N={}, d={}: {} cycles{}\";\n  labelloc=t;\n  rankdir=LR;\n"
      "  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\", fontsize=11];\n",
      r.graph.name, r.graph.name, r.graph.n, r.graph.d, with_commas(r.cycles), r.deadlocked ? ", then a deadlock" : "");
  for (std::size_t i = 0; i < r.nodes.size(); ++i) {
    const NodeSpec& node = r.graph.nodes[i];
    out += fmt::format(
        "  \"{}\" [label=\"{}\\n{}\\nii {}, latency {}\"{}{}];\n", node.name, node.name, node.operation->name, node.ii,
        node.latency,
        node.operation->kind == NodeKind::kSource || node.operation->kind == NodeKind::kSink ? ", shape=ellipse" : "",
        red_node[i] ? ", color=red, penwidth=2" : "");
  }
  for (std::size_t c = 0; c < r.channels.size(); ++c) {
    const ChannelSpec& spec = r.graph.channels[c];
    const ChannelResult& channel = r.channels[c];
    std::string wait;
    for (const Blocked& b : r.deadlock.blocked) {
      if (b.channel == c) wait = b.for_space ? ", full" : ", empty";
    }
    out += fmt::format("  \"{}\" -> \"{}\" [label=\"{}\\ndepth {}, peak {}{}\"{}{}{}];\n",
                       r.graph.nodes[spec.from].name, r.graph.nodes[spec.to].name, spec.name, depth_text(spec.depth),
                       channel.peak, wait, spec.per_row ? ", style=dashed" : "", spec.vector ? ", penwidth=2" : "",
                       red_channel[c] ? ", color=red, fontcolor=red" : "");
  }
  return out + "}\n";
}

}  // namespace attnvp::stream
