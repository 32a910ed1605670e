#include "explore/papers/papers.h"
#include "explore/plot/svg.h"
#include "platform/report/table.h"

namespace attnvp::papers {

namespace {

constexpr std::uint32_t kShortest = 16, kLongestThreshold = 256;
constexpr std::uint64_t kSweepBelow = 8, kSweepAbove = 24;  // depths around N

std::size_t long_channel(const stream::Graph& graph) {
  for (std::size_t c = 0; c < graph.channels.size(); ++c) {
    if (graph.channels[c].name == "long") return c;
  }
  throw config::ConfigError(fmt::format("graph '{}' has no channel 'long'", graph.name));
}

// Runs of the naive graph with different depths of its long FIFO.
class DepthSweep {
 public:
  explicit DepthSweep(const stream::Graph& graph)
      : channel_(long_channel(graph)), runner_(graph, config::load_energy(graph.energy), 1) {}

  stream::StreamResult run(std::uint64_t depth, bool explain = false) {
    runner_.set_depth(channel_, depth);
    return runner_.run({.check_golden = false, .explain = explain});
  }

 private:
  std::size_t channel_;
  stream::StreamRunner runner_;
};

Threshold find_threshold(const stream::Graph& graph, bool unit_times) {
  Threshold t;
  t.n = graph.n;
  t.unit_times = unit_times;
  DepthSweep sweep(graph);
  t.full_rate_cycles = sweep.run(stream::kUnbounded).cycles;
  const stream::StreamResult shallow = sweep.run(1, true);
  t.runs_from = shallow.deadlocked ? shallow.deadlock.freed_by.at(0).second : 1;
  t.slowest_cycles = sweep.run(t.runs_from).cycles;
  for (t.full_rate_from = t.runs_from; sweep.run(t.full_rate_from).cycles > t.full_rate_cycles;) ++t.full_rate_from;
  return t;
}

using report::with_commas;

const char* const kMemoryTitle = "Memory between nodes";
const auto kGraphs = {kNaive, kMemoryFree, kSafeSoftmax};

std::string beside(std::uint64_t ours, std::uint64_t paper) {
  if (paper == 0) return "";
  if (ours == paper) return "the same";
  return fmt::format("{} ({:+})", with_commas(paper), static_cast<std::int64_t>(paper - ours));
}

// The fullest channel that does not start at a source.
std::string deepest(const stream::StreamResult& r) {
  std::size_t best = SIZE_MAX;
  for (std::size_t c = 0; c < r.channels.size(); ++c) {
    if (r.graph.nodes[r.graph.channels[c].from].operation->kind == stream::NodeKind::kSource) continue;
    if (best == SIZE_MAX || r.channels[c].peak > r.channels[best].peak) best = c;
  }
  return fmt::format("{} {}", r.graph.channels[best].name, r.channels[best].peak);
}

// The smallest depth of the sweep that runs in at most so many cycles; nullptr: none.
const DepthPoint* first_within(const StreamingStudy& s, std::uint64_t cycles) {
  const auto found = std::find_if(s.sweep.begin(), s.sweep.end(),
                                  [&](const DepthPoint& p) { return !p.deadlocked && p.cycles <= cycles; });
  return found == s.sweep.end() ? nullptr : &*found;
}
const DepthPoint* first_running(const StreamingStudy& s) { return first_within(s, UINT64_MAX); }
const DepthPoint* first_at_full_rate(const StreamingStudy& s) { return first_within(s, s.sweep.back().cycles); }

Section findings(const StreamingStudy& s) {
  Section section{"What the runs say"};
  const auto naive = s.of(kNaive), free = s.of(kMemoryFree), safe = s.of(kSafeSoftmax);
  const StreamingPoint &first = *naive.front(), &last = *naive.back();
  const auto kept_bytes = [](const StreamingPoint* p) { return static_cast<double>(p->result.intermediate_bytes()); };
  Range slopes, constant = range_of(free, kept_bytes);
  for (std::size_t i = 1; i < naive.size(); ++i) {
    slopes.include((kept_bytes(naive[i]) - kept_bytes(naive[i - 1])) / (naive[i]->n - naive[i - 1]->n));
  }
  std::size_t compared = 0, same = 0, passed = 0;
  for (const StreamingPoint& p : s.points) {
    compared += p.paper_cycles > 0 ? 1 : 0;
    same += p.paper_cycles == p.result.cycles ? 1 : 0;
    passed += p.result.golden.passed ? 1 : 0;
  }
  const StreamingPoint &first_free = *free.front(), &last_free = *free.back();
  const auto kept = [&](const StreamingPoint& p) { return bytes_text(kept_bytes(&p)); };
  const auto per_score = [&last](const StreamingPoint& p, const char* part) {
    return p.result.energy_pj(part) / last.n / last.n;
  };
  section.notes = {
      fmt::format("The naive graph keeps {} between its nodes at N={} and {} at N={}: {:.3g} B more for each token{}.",
                  kept(first), first.n, kept(last), last.n,
                  (kept_bytes(&last) - kept_bytes(&first)) / (last.n - first.n),
                  slopes.least == slopes.most ? ", at every N alike: O(N)" : ""),
      "The memory-free graph keeps " + (constant.least == constant.most
                                            ? kept(first_free) + " at every N: O(1)."
                                            : fmt::format("{} at N={} and {} at N={}.", kept(first_free), first_free.n,
                                                          kept(last_free), last_free.n)),
      fmt::format("{} of {} cycle counts that the authors' simulations give are met exactly; {} of {} runs passed the "
                  "golden check.",
                  same, compared, passed, s.points.size()),
      fmt::format("Short FIFOs cost no time: at N={} the memory-free graph takes {} cycles, the naive one {}, softmax "
                  "less its maximum in passes (safe-softmax, not in the paper) {}.",
                  last.n, with_commas(last_free.result.cycles), with_commas(last.result.cycles),
                  with_commas(safe.back()->result.cycles)),
      fmt::format(
          "Energy per score at N={}: {:.1f} pJ for channels in the naive graph, whose long FIFO is a large SRAM, and "
          "{:.1f} pJ in the memory-free one, which has more channels; {:.1f} and {:.1f} pJ for nodes.",
          last.n, per_score(last, "channels"), per_score(last_free, "channels"), per_score(last, "nodes"),
          per_score(last_free, "nodes"))};
  if (const DepthPoint* runs = first_running(s)) {
    section.notes.push_back(
        fmt::format("At N={} the long FIFO needs {} slots not to deadlock and {} not to cost cycles.", s.sweep_n,
                    runs->depth, first_at_full_rate(s)->depth));
  }
  return section;
}

// Adds the results of every graph, N down; `cells` gives those of a run.
Section by_n(const StreamingStudy& s, Section section, const std::function<Names(const StreamingPoint&)>& cells) {
  for (const StreamingPoint* naive : s.of(kNaive)) {
    Names& row = section.rows.emplace_back(1, with_commas(naive->n));
    for (const std::string& graph : kGraphs) {
      const Names of_graph = cells(s.at(graph, naive->n));
      row.insert(row.end(), of_graph.begin(), of_graph.end());
    }
  }
  return section;
}

Section cycles(const StreamingStudy& s) {
  Section section{"Cycles and throughput",
                  "Throughput in scores per cycle; 0.5 is what nodes with an initiation interval of 2 allow.",
                  {"N", kNaive, "the authors'", "throughput", kMemoryFree, "the authors'", "throughput", kSafeSoftmax,
                   "throughput"}};
  return by_n(s, section, [](const StreamingPoint& p) {
    Names cells{with_commas(p.result.cycles)};
    if (p.graph != kSafeSoftmax) cells.push_back(beside(p.result.cycles, p.paper_cycles));
    cells.push_back(fmt::format("{:.4f}", p.result.scores_per_cycle()));
    return cells;
  });
}

Section memory(const StreamingStudy& s) {
  const Section section{
      kMemoryTitle,
      "High-water marks of all channels but those from sources, in bytes, and the channel that holds most elements.",
      {"N", kNaive, "most in", kMemoryFree, "most in", kSafeSoftmax, "most in"}};
  return by_n(s, section, [](const StreamingPoint& p) {
    return Names{with_commas(p.result.intermediate_bytes()), deepest(p.result)};
  });
}

Section depths(const StreamingStudy& s) {
  Section section{"How deep the long FIFO must be",
                  fmt::format("The naive graph at N={}, by the depth of its long FIFO.", s.sweep_n),
                  {"depth", "over N", "cycles", "the authors'"},
                  0};
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
  Section section{"The threshold at other N, and with unit times",
                  "The smallest depth without a deadlock, found by running, and the smallest that costs no cycles.",
                  {"times", "N", "runs from", "cycles", "full rate from", "cycles"}};
  for (const Threshold& t : s.thresholds) {
    const auto over = [&](std::uint64_t depth) { return fmt::format("{} (N + {})", depth, depth - t.n); };
    section.rows.push_back({t.unit_times ? "all 1" : "the paper's", fmt::to_string(t.n), over(t.runs_from),
                            with_commas(t.slowest_cycles), over(t.full_rate_from), with_commas(t.full_rate_cycles)});
  }
  return section;
}

void add_plots(const StreamingStudy& s, const std::string& stem, StudyReport& r) {
  const auto add = [&](std::size_t section, const char* suffix, const char* alt, const plot::LinePlot& plot) {
    r.sections[section].figure = fmt::format("![{}]({}-{}.svg)", alt, stem, suffix);
    r.plots.push_back({suffix, plot::to_svg(plot)});
  };
  plot::LinePlot memory{kMemoryTitle, "sequence length N", "bytes, at most", {}, {}};
  plot::LinePlot throughput{"Throughput", "sequence length N", "scores per cycle", {}, {}};
  for (const std::string& graph : kGraphs) {
    auto& bytes = memory.series.emplace_back(plot::Series{graph, {}}).points;
    auto& rate = throughput.series.emplace_back(plot::Series{graph, {}}).points;
    for (const StreamingPoint* p : s.of(graph)) {
      bytes.emplace_back(p->n, static_cast<double>(p->result.intermediate_bytes()));
      rate.emplace_back(p->n, p->result.scores_per_cycle());
    }
  }
  plot::LinePlot depth{fmt::format("The naive graph at N={}", s.sweep_n), "depth of the long FIFO", "cycles", {}, {}};
  auto& cycles = depth.series.emplace_back(plot::Series{"cycles", {}}).points;
  for (const DepthPoint& p : s.sweep) {
    if (!p.deadlocked) cycles.emplace_back(static_cast<double>(p.depth), static_cast<double>(p.cycles));
  }
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
  add(1, "memory", "Memory between nodes over N", memory);
  add(2, "throughput", "Throughput over N", throughput);
  add(3, "depth", "Cycles over the depth of the long FIFO", depth);
}

}  // namespace

const StreamingPoint& StreamingStudy::at(const std::string& graph, std::uint32_t n) const {
  for (const StreamingPoint& point : points) {
    if (point.graph == graph && point.n == n) return point;
  }
  throw std::out_of_range(fmt::format("{} at N={} was not run", graph, n));
}

std::vector<const StreamingPoint*> StreamingStudy::of(const std::string& graph) const {
  std::vector<const StreamingPoint*> found;
  for (const StreamingPoint& point : points) {
    if (point.graph == graph) found.push_back(&point);
  }
  return found;
}

StreamingStudy run_streaming_study(std::uint32_t longest, const StudyProgress& progress) {
  const std::map<Case, double> cycles = read_claims("streaming_cycles.csv"),
                               depths = read_claims("streaming_depths.csv");
  const auto stated = [](const std::map<Case, double>& table, const std::string& of, std::uint64_t at) {
    return static_cast<std::uint64_t>(claim_of(table, of, fmt::to_string(at)));
  };
  const std::string& sweep_n = depths.begin()->first.first;
  StreamingStudy study;
  study.sweep_n = static_cast<std::uint32_t>(std::stoul(sweep_n));
  for (const std::string& name : kGraphs) {
    for (std::uint32_t n = kShortest; n <= longest; n *= 2) {
      progress(fmt::format("{} at N={}", name, n));
      const stream::Graph graph = stream::load_graph(name, n, 1);
      stream::StreamRunner runner(graph, config::load_energy(graph.energy), 1);
      study.points.push_back({name, n, runner.run({}), stated(cycles, name, n)});
    }
  }
  progress("depths of the long FIFO");
  {  // one simulation at a time
    DepthSweep sweep(stream::load_graph(kNaive, study.sweep_n, 1));
    for (std::uint64_t depth = study.sweep_n - kSweepBelow; depth <= study.sweep_n + kSweepAbove; ++depth) {
      const stream::StreamResult result = sweep.run(depth);
      study.sweep.push_back({depth, result.deadlocked, result.cycles, stated(depths, sweep_n, depth)});
    }
  }
  for (const bool unit_times : {false, true}) {
    for (std::uint32_t n = kShortest; n <= std::min(longest, kLongestThreshold); n *= 2) {
      stream::Graph graph = stream::load_graph(kNaive, n, 1);
      for (stream::NodeSpec& node : graph.nodes) {
        if (unit_times) node.ii = node.latency = 1;
      }
      study.thresholds.push_back(find_threshold(graph, unit_times));
    }
  }
  return study;
}

StudyReport streaming_report(const StreamingStudy& s, const std::string& stem) {
  StudyReport r;
  r.title = "Streaming SDPA, reproduced";
  r.heading = r.title + "\n";
  r.introduction = {
      "Written by `attnvp reproduce streaming --markdown FILE`; all numbers of ours come from runs, none is typed in. "
      "The graphs are those of `configs/streams`, head dimension 1; [streaming.md](../explanation/streaming.md) says "
      "how they run. The authors' cycles (arXiv 2404.16629, simulated with the Dataflow Abstract Machine) are in "
      "`configs/paper`."};
  r.sections = {findings(s), memory(s), cycles(s), depths(s), thresholds(s)};
  add_plots(s, stem, r);
  for (const StreamingPoint& p : s.points) {
    r.cells.push_back({"cycles", fmt::format("N={}", p.n), p.graph, static_cast<double>(p.paper_cycles),
                       static_cast<double>(p.result.cycles)});
    r.check(fmt::format("{} at N={}", p.graph, p.n), p.result.golden);
  }
  for (const DepthPoint& p : s.sweep) {
    r.cells.push_back({p.deadlocked ? "deadlock" : "cycles", fmt::format("N={}, depth {}", s.sweep_n, p.depth), kNaive,
                       static_cast<double>(p.paper_cycles), static_cast<double>(p.cycles)});
  }
  return r;
}

StudyReport streaming(std::uint32_t longest, const std::string& stem, const StudyProgress& progress) {
  return streaming_report(run_streaming_study(longest, progress), stem);
}

}  // namespace attnvp::papers
