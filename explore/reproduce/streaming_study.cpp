#include "explore/reproduce/streaming_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "explore/reproduce/csv.h"
#include "platform/stream/graph_file.h"

namespace attnvp::reproduce {

namespace {

constexpr std::uint32_t kShortest = 16, kLongestThreshold = 256;
constexpr std::uint64_t kSweepBelow = 8, kSweepAbove = 24;  // depths around N

std::size_t long_channel(const stream::Graph& graph) {
  for (std::size_t c = 0; c < graph.channels.size(); ++c) {
    if (graph.channels[c].name == "long") return c;
  }
  throw config::ConfigError(fmt::format("graph '{}' has no channel 'long'", graph.name));
}

// The naive graph with another depth of its long FIFO at each run.
class DepthSweep {
 public:
  explicit DepthSweep(const stream::Graph& graph)
      : channel_(long_channel(graph)), runner_(graph, config::load_energy(graph.energy), 1) {}

  stream::Result run(std::uint64_t depth, bool explain = false) {
    stream::Runner::Options options;
    options.check_golden = false;
    options.explain = explain;
    runner_.set_depth(channel_, depth);
    return runner_.run(options);
  }
  std::uint64_t smallest_that_runs() {
    const stream::Result result = run(1, true);
    return result.deadlocked ? result.deadlock.freed_by.at(0).second : 1;
  }

 private:
  std::size_t channel_;
  stream::Runner runner_;
};

Threshold find_threshold(const stream::Graph& graph, bool unit_times) {
  Threshold t;
  t.n = graph.n;
  t.unit_times = unit_times;
  DepthSweep sweep(graph);
  t.full_rate_cycles = sweep.run(stream::kUnbounded).cycles;
  t.runs_from = sweep.smallest_that_runs();
  t.slowest_cycles = sweep.run(t.runs_from).cycles;
  for (t.full_rate_from = t.runs_from; sweep.run(t.full_rate_from).cycles > t.full_rate_cycles;) ++t.full_rate_from;
  return t;
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

StreamingStudy run_streaming_study(std::uint32_t longest, const std::function<void(const std::string&)>& progress) {
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> paper_cycles;
  const std::vector<CsvLine> cycles = read_csv("streaming_cycles.csv"), depths = read_csv("streaming_depths.csv");
  for (std::size_t i = 1; i < cycles.size(); ++i) {
    paper_cycles[{cycles[i].cells[0], static_cast<std::uint64_t>(csv_number(cycles[i], 1))}] =
        static_cast<std::uint64_t>(csv_number(cycles[i], 2));
  }
  StreamingStudy study;
  for (const std::string& name : {kNaive, kMemoryFree, kSafeSoftmax}) {
    for (std::uint32_t n = kShortest; n <= longest; n *= 2) {
      progress(fmt::format("{} at N={}", name, n));
      const stream::Graph graph = stream::load_graph(name, n, 1);
      stream::Runner runner(graph, config::load_energy(graph.energy), 1);
      study.points.push_back({name, n, runner.run({}), paper_cycles[{name, n}]});
    }
  }

  std::map<std::uint64_t, std::uint64_t> paper_depths;
  for (std::size_t i = 1; i < depths.size(); ++i) {
    study.sweep_n = static_cast<std::uint32_t>(csv_number(depths[i], 0));
    paper_depths[static_cast<std::uint64_t>(csv_number(depths[i], 1))] =
        static_cast<std::uint64_t>(csv_number(depths[i], 2));
  }
  progress("depths of the long FIFO");
  {
    DepthSweep sweep(stream::load_graph(kNaive, study.sweep_n, 1));
    for (std::uint64_t depth = study.sweep_n - kSweepBelow; depth <= study.sweep_n + kSweepAbove; ++depth) {
      const stream::Result result = sweep.run(depth);
      study.sweep.push_back({depth, result.deadlocked, result.cycles, paper_depths[depth]});
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

}  // namespace attnvp::reproduce
