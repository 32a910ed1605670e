#include "explore/reproduce/streaming_output.h"

#include <fmt/format.h>

#include <algorithm>

#include "explore/plot/lines.h"
#include "platform/report/json.h"
#include "platform/report/table.h"

namespace attnvp::reproduce {

namespace {

using report::with_commas;

const char* const kTitle = "Streaming SDPA, reproduced";
const char* const kMemoryTitle = "Memory between nodes";
const char* const kThroughputTitle = "Cycles and throughput";
const char* const kDepthTitle = "How deep the long FIFO must be";

std::string bytes(std::uint64_t b) { return report::with_prefix(static_cast<double>(b), "B"); }

std::string beside(std::uint64_t ours, std::uint64_t paper) {
  if (paper == 0) return "";
  return ours == paper ? "the same"
                       : fmt::format("{} ({:+})", with_commas(paper),
                                     static_cast<std::int64_t>(paper) - static_cast<std::int64_t>(ours));
}

// The channel other than a source's that holds most.
std::string deepest(const stream::Result& r) {
  std::size_t best = SIZE_MAX;
  for (std::size_t c = 0; c < r.channels.size(); ++c) {
    if (r.graph.nodes[r.graph.channels[c].from].operation->kind == stream::Kind::kSource) continue;
    if (best == SIZE_MAX || r.channels[c].peak > r.channels[best].peak) best = c;
  }
  return fmt::format("{} {}", r.graph.channels[best].name, r.channels[best].peak);
}

const DepthPoint* first_running(const StreamingStudy& s) {
  const auto found = std::find_if(s.sweep.begin(), s.sweep.end(), [](const DepthPoint& p) { return !p.deadlocked; });
  return found == s.sweep.end() ? nullptr : &*found;
}
const DepthPoint* first_at_full_rate(const StreamingStudy& s) {
  const auto found = std::find_if(s.sweep.begin(), s.sweep.end(), [&](const DepthPoint& p) {
    return !p.deadlocked && p.cycles == s.sweep.back().cycles;
  });
  return &*found;
}

Section findings(const StreamingStudy& s) {
  Section section;
  section.title = "What the runs say";
  const auto naive = s.of(kNaive), free = s.of(kMemoryFree), safe = s.of(kSafeSoftmax);
  const StreamingPoint &first = *naive.front(), &last = *naive.back();
  const auto slope = [](const StreamingPoint& from, const StreamingPoint& to) {
    return static_cast<double>(to.result.intermediate_bytes() - from.result.intermediate_bytes()) / (to.n - from.n);
  };
  bool linear = true;
  for (std::size_t i = 1; i < naive.size(); ++i)
    linear = linear && slope(*naive[i - 1], *naive[i]) == slope(first, last);
  const bool constant = std::all_of(free.begin(), free.end(), [&](const StreamingPoint* p) {
    return p->result.intermediate_bytes() == free.front()->result.intermediate_bytes();
  });
  section.notes.push_back(
      fmt::format("The naive graph keeps {} between its nodes at N={} and {} at N={}: {:.3g} B more for each token{}.",
                  bytes(first.result.intermediate_bytes()), first.n, bytes(last.result.intermediate_bytes()), last.n,
                  slope(first, last), linear ? ", at every N alike: O(N)" : ""));
  section.notes.push_back(constant ? fmt::format("The memory-free graph keeps {} at every N: O(1).",
                                                 bytes(free.front()->result.intermediate_bytes()))
                                   : fmt::format("The memory-free graph keeps {} at N={} and {} at N={}.",
                                                 bytes(free.front()->result.intermediate_bytes()), free.front()->n,
                                                 bytes(free.back()->result.intermediate_bytes()), free.back()->n));
  std::size_t compared = 0, same = 0, passed = 0;
  for (const StreamingPoint& p : s.points) {
    compared += p.paper_cycles > 0 ? 1 : 0;
    same += p.paper_cycles == p.result.cycles ? 1 : 0;
    passed += p.result.golden.passed ? 1 : 0;
  }
  section.notes.push_back(
      fmt::format("{} of {} cycle counts that the authors' simulations give are met exactly; {} of {} runs passed the "
                  "golden check.",
                  same, compared, passed, s.points.size()));
  section.notes.push_back(
      fmt::format("Short FIFOs cost no time: at N={} the memory-free graph takes {} cycles, the naive one {}, softmax "
                  "less its maximum in passes (safe-softmax, not in the paper) {}.",
                  last.n, with_commas(free.back()->result.cycles), with_commas(last.result.cycles),
                  with_commas(safe.back()->result.cycles)));
  section.notes.push_back(fmt::format(
      "Energy per score at N={}: {:.1f} pJ for channels in the naive graph, whose long FIFO is a large SRAM, and "
      "{:.1f} pJ in the memory-free one, which has more channels; {:.1f} and {:.1f} pJ for nodes.",
      last.n, last.result.energy_pj("channels") / last.n / last.n,
      free.back()->result.energy_pj("channels") / last.n / last.n, last.result.energy_pj("nodes") / last.n / last.n,
      free.back()->result.energy_pj("nodes") / last.n / last.n));
  if (const DepthPoint* runs = first_running(s)) {
    const DepthPoint* full = first_at_full_rate(s);
    section.notes.push_back(
        fmt::format("At N={} the long FIFO needs {} slots not to deadlock and {} not to cost cycles.", s.sweep_n,
                    runs->depth, full->depth));
  }
  return section;
}

Section cycles(const StreamingStudy& s) {
  Section section;
  section.title = kThroughputTitle;
  section.lead = "Throughput in scores per cycle; 0.5 is what nodes with an initiation interval of 2 allow.";
  section.columns = {"N"};
  for (const std::string& graph : {kNaive, kMemoryFree, kSafeSoftmax}) {
    section.columns.push_back(graph);
    if (graph != kSafeSoftmax) section.columns.emplace_back("the authors'");
    section.columns.emplace_back("throughput");
  }
  for (const StreamingPoint* naive : s.of(kNaive)) {
    std::vector<std::string> row{with_commas(naive->n)};
    for (const std::string& graph : {kNaive, kMemoryFree, kSafeSoftmax}) {
      const StreamingPoint& p = s.at(graph, naive->n);
      row.push_back(with_commas(p.result.cycles));
      if (graph != kSafeSoftmax) row.push_back(beside(p.result.cycles, p.paper_cycles));
      row.push_back(fmt::format("{:.4f}", p.result.scores_per_cycle()));
    }
    section.rows.push_back(row);
  }
  return section;
}

Section memory(const StreamingStudy& s) {
  Section section;
  section.title = kMemoryTitle;
  section.lead =
      "High-water marks of all channels but those from sources, in bytes, and the channel that holds most elements.";
  section.columns = {"N"};
  for (const std::string& graph : {kNaive, kMemoryFree, kSafeSoftmax}) {
    section.columns.push_back(graph);
    section.columns.emplace_back("most in");
  }
  for (const StreamingPoint* naive : s.of(kNaive)) {
    std::vector<std::string> row{with_commas(naive->n)};
    for (const std::string& graph : {kNaive, kMemoryFree, kSafeSoftmax}) {
      const stream::Result& r = s.at(graph, naive->n).result;
      row.push_back(with_commas(r.intermediate_bytes()));
      row.push_back(deepest(r));
    }
    section.rows.push_back(row);
  }
  return section;
}

Section depths(const StreamingStudy& s) {
  Section section;
  section.title = kDepthTitle;
  section.lead = fmt::format("The naive graph at N={}, by the depth of its long FIFO.", s.sweep_n);
  section.columns = {"depth", "over N", "cycles", "the authors'"};
  section.left = 0;
  for (const DepthPoint& p : s.sweep) {
    section.rows.push_back(
        {fmt::to_string(p.depth),
         fmt::format("{:+}", static_cast<std::int64_t>(p.depth) - static_cast<std::int64_t>(s.sweep_n)),
         p.deadlocked ? fmt::format("deadlock at cycle {}", p.cycles) : with_commas(p.cycles),
         beside(p.cycles, p.paper_cycles)});
  }
  return section;
}

Section thresholds(const StreamingStudy& s) {
  Section section;
  section.title = "The threshold at other N, and with unit times";
  section.lead = "The smallest depth without a deadlock, found by running, and the smallest that costs no cycles.";
  section.columns = {"times", "N", "runs from", "cycles", "full rate from", "cycles"};
  for (const Threshold& t : s.thresholds) {
    const auto over = [&](std::uint64_t depth) { return fmt::format("{} (N + {})", depth, depth - t.n); };
    section.rows.push_back({t.unit_times ? "all 1" : "the paper's", fmt::to_string(t.n), over(t.runs_from),
                            with_commas(t.slowest_cycles), over(t.full_rate_from), with_commas(t.full_rate_cycles)});
  }
  return section;
}

}  // namespace

std::vector<Section> streaming_sections(const StreamingStudy& s) {
  return {findings(s), memory(s), cycles(s), depths(s), thresholds(s)};
}

std::vector<StreamingPlot> streaming_plots(const StreamingStudy& s) {
  plot::LinePlot memory{kMemoryTitle, "sequence length N", "bytes, at most", {}, {}};
  plot::LinePlot throughput{"Throughput", "sequence length N", "scores per cycle", {}, {}};
  for (const std::string& graph : {kNaive, kMemoryFree, kSafeSoftmax}) {
    plot::Series bytes{graph, {}}, rate{graph, {}};
    for (const StreamingPoint* p : s.of(graph)) {
      bytes.points.emplace_back(p->n, static_cast<double>(p->result.intermediate_bytes()));
      rate.points.emplace_back(p->n, p->result.scores_per_cycle());
    }
    memory.series.push_back(bytes);
    throughput.series.push_back(rate);
  }
  plot::LinePlot depth{fmt::format("The naive graph at N={}", s.sweep_n), "depth of the long FIFO", "cycles", {}, {}};
  plot::Series cycles{"cycles", {}};
  for (const DepthPoint& p : s.sweep) {
    if (!p.deadlocked) cycles.points.emplace_back(static_cast<double>(p.depth), static_cast<double>(p.cycles));
  }
  depth.series.push_back(cycles);
  if (const DepthPoint* runs = first_running(s)) {
    depth.marks.push_back(
        {static_cast<double>(s.sweep.front().depth), "deadlock", static_cast<double>(runs->depth) - 0.5});
    const auto over = [&](const DepthPoint& p) {
      const std::uint64_t more = p.depth - s.sweep_n;
      return more == 0 ? std::string("N") : fmt::format("N + {}", more);
    };
    depth.marks.push_back({static_cast<double>(runs->depth), "runs from " + over(*runs), 0});
    const DepthPoint* full = first_at_full_rate(s);
    depth.marks.push_back({static_cast<double>(full->depth), "full rate from " + over(*full), 0});
  }
  return {{"memory", kMemoryTitle, "Memory between nodes over N", plot::to_svg(memory)},
          {"throughput", kThroughputTitle, "Throughput over N", plot::to_svg(throughput)},
          {"depth", kDepthTitle, "Cycles over the depth of the long FIFO", plot::to_svg(depth)}};
}

std::string streaming_text(const std::vector<Section>& sections) {
  std::string out = std::string(kTitle) + "\n";
  for (const Section& section : sections) out += "\n" + to_text(section);
  return out;
}

std::string streaming_markdown(const std::vector<Section>& sections, const std::vector<StreamingPlot>& plots,
                               const std::string& stem) {
  std::string out = fmt::format(
      "# {}\n\nWritten by `attnvp reproduce streaming --markdown FILE`; all numbers of ours come from runs, none is "
      "typed in.\nThe graphs are those of `configs/streams`, head dimension 1; "
      "[streaming.md](../explanation/streaming.md) says how they run.\nThe authors' cycles (arXiv 2404.16629, "
      "simulated with the Dataflow Abstract Machine) are in "
      "`configs/paper`.\n",
      kTitle);
  for (const Section& section : sections) {
    std::string text = to_markdown(section);
    for (const StreamingPlot& plot : plots) {
      if (plot.section != section.title) continue;
      const std::size_t after_title = text.find('\n') + 1;
      text.insert(after_title, fmt::format("\n![{}]({}-{}.svg)\n", plot.alt, stem, plot.suffix));
    }
    out += "\n" + text;
  }
  return out;
}

std::string streaming_json(const StreamingStudy& s) {
  using nlohmann::ordered_json;
  ordered_json j = report::json_document();
  j["points"] = ordered_json::array();
  for (const StreamingPoint& p : s.points) {
    ordered_json point{{"graph", p.graph},
                       {"n", p.n},
                       {"cycles", p.result.cycles},
                       {"paper_cycles", p.paper_cycles > 0 ? ordered_json(p.paper_cycles) : ordered_json()},
                       {"scores_per_cycle", p.result.scores_per_cycle()},
                       {"intermediate_bytes", p.result.intermediate_bytes()},
                       {"golden_passed", p.result.golden.passed},
                       {"energy_pj", p.result.energy_pj("")}};
    for (std::size_t c = 0; c < p.result.channels.size(); ++c) {
      point["peaks"][p.result.graph.channels[c].name] = p.result.channels[c].peak;
    }
    j["points"].push_back(std::move(point));
  }
  j["depths"] = {{"n", s.sweep_n}, {"sweep", ordered_json::array()}};
  for (const DepthPoint& p : s.sweep) {
    j["depths"]["sweep"].push_back(
        {{"depth", p.depth},
         {"deadlock", p.deadlocked},
         {"cycles", p.cycles},
         {"paper_cycles", p.paper_cycles > 0 ? ordered_json(p.paper_cycles) : ordered_json()}});
  }
  j["thresholds"] = ordered_json::array();
  for (const Threshold& t : s.thresholds) {
    j["thresholds"].push_back({{"n", t.n},
                               {"unit_times", t.unit_times},
                               {"runs_from", t.runs_from},
                               {"slowest_cycles", t.slowest_cycles},
                               {"full_rate_from", t.full_rate_from},
                               {"full_rate_cycles", t.full_rate_cycles}});
  }
  return report::json_text(j);
}

}  // namespace attnvp::reproduce
