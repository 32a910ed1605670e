#include "platform/streaming/stream_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "platform/machine/energy/machine_model.h"
#include "platform/run/job.h"

namespace attnvp::stream {

namespace {

constexpr double kU = 0x1p-24;

double norm(const arith::Half* row, std::size_t width) {
  double sum = 0;
  for (std::size_t i = 0; i < width; ++i) sum += std::pow(arith::double_from_half(row[i]), 2);
  return std::sqrt(sum);
}

}  // namespace

StreamGoldenResult check_stream(const job::AttentionShape& shape, const job::AttentionTensors& tensors,
                                const std::vector<float>& output) {
  const std::size_t n = shape.queries, d = shape.width;
  const std::vector<double> reference =
      job::reference_attention(shape, tensors.q.data(), tensors.k.data(), tensors.v.data());
  double longest_key = 0;
  std::vector<double> largest(d), lowest(d, INFINITY), highest(d, -INFINITY);
  for (std::size_t j = 0; j < n; ++j) {
    longest_key = std::max(longest_key, norm(&tensors.k[j * d], d));
    for (std::size_t c = 0; c < d; ++c) {
      const double v = arith::double_from_half(tensors.v[j * d + c]);
      largest[c] = std::max(largest[c], std::abs(v));
      lowest[c] = std::min(lowest[c], v);
      highest[c] = std::max(highest[c], v);
    }
  }
  StreamGoldenResult result;
  result.checked = true;
  double worst = -1;
  const double roundings = 2 * (4 * static_cast<double>(n) + 8) * kU;
  for (std::size_t i = 0; i < n; ++i) {
    const double a = norm(&tensors.q[i * d], d) * longest_key;
    const double share = std::expm1(2 * (static_cast<double>(d) + 4) * kU * a + roundings);
    for (std::size_t c = 0; c < d; ++c) {
      const double expected = reference[i * d + c], actual = output[i * d + c];
      const double spread = highest[c] - lowest[c] + std::expm1(roundings) * largest[c];
      const double tolerance = std::min(share * largest[c], spread);
      const double error = std::abs(actual - expected);
      const bool good = error <= tolerance;  // false for NaN
      if (!good) ++result.failures;
      if (std::isfinite(error)) result.max_abs_error = std::max(result.max_abs_error, error);
      const double score = std::isfinite(error) ? error / std::max(tolerance, kU * kU) : INFINITY;
      if (score <= worst) continue;
      worst = score;
      result.row = static_cast<std::uint32_t>(i);
      result.column = static_cast<std::uint32_t>(c);
      result.expected = expected;
      result.actual = actual;
      result.tolerance = tolerance;
    }
  }
  result.passed = result.failures == 0;
  return result;
}

std::string StreamGoldenResult::to_string() const {
  return fmt::format(
      "{}, {} elements beyond tolerance, max error {:.3g}, worst at [{}, {}]: {:.9g}, expected {:.9g} +- {:.3g}",
      passed ? "passed" : "FAILED", failures, max_abs_error, row, column, actual, expected, tolerance);
}

std::vector<Blocked> blocked_nodes(const Machine& machine) {
  const Graph& graph = machine.graph();
  std::vector<Blocked> blocked;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Wait& wait = machine.node(i).wait_state();
    if (wait.channel == nullptr) continue;
    for (std::size_t c = 0; c < graph.channels.size(); ++c) {
      if (&machine.channel(c) != wait.channel) continue;
      blocked.push_back(
          {i, c, wait.for_space, wait.since, wait.for_space ? graph.channels[c].to : graph.channels[c].from});
    }
  }
  return blocked;
}

// Every node waits for one other node, so the chain ends in a circle or at a finished node.
std::vector<std::size_t> circle_from(const std::vector<Blocked>& blocked, std::size_t first) {
  std::vector<std::size_t> path;
  for (std::size_t at = first;;) {
    const auto seen = std::find(path.begin(), path.end(), at);
    if (seen != path.end()) return {seen, path.end()};
    path.push_back(at);
    const auto next =
        std::find_if(blocked.begin(), blocked.end(), [&](const Blocked& b) { return b.node == blocked[at].on; });
    if (next == blocked.end()) return {};
    at = static_cast<std::size_t>(next - blocked.begin());
  }
}

namespace {

// A full channel of the first circular wait, preferably one that was deepened before. None if some circle has no full
// channel, which no depth can resolve.
std::optional<std::size_t> channel_to_deepen(const Machine& machine,
                                             const std::map<std::size_t, std::uint64_t>& deepened) {
  const std::vector<Blocked> blocked = blocked_nodes(machine);
  std::optional<std::size_t> first_choice;
  for (std::size_t first = 0; first < blocked.size(); ++first) {
    std::optional<std::size_t> choice;
    for (const std::size_t i : circle_from(blocked, first)) {
      const std::size_t c = blocked[i].channel;
      if (blocked[i].for_space && (!choice || deepened.count(c) > 0)) choice = c;
    }
    if (!choice) return {};
    if (!first_choice) first_choice = choice;
  }
  return first_choice;
}

// Reduces the depths, as channels deepened in turn may be deeper than necessary.
void make_smallest(Machine& machine, std::map<std::size_t, std::uint64_t>& deepened) {
  for (auto& [channel, depth] : deepened) {
    for (const std::uint64_t least = machine.graph().channels[channel].depth; depth > least + 1; --depth) {
      machine.set_depth(channel, depth - 1);
      if (!machine.run().finished) break;
    }
    machine.set_depth(channel, depth);
  }
}

}  // namespace

// The graph is deterministic: adding a slot to a full channel continues as a run that had it from the start. One run
// that deepens a channel by one at each deadlock finds the depths; another run measures the cycles.
Deadlock explain_deadlock(Machine& machine) {
  Deadlock result;
  result.blocked = blocked_nodes(machine);
  for (std::size_t first = 0; first < result.blocked.size() && result.circle.empty(); ++first) {
    result.circle = circle_from(result.blocked, first);
  }
  std::map<std::size_t, std::uint64_t> deepened;
  for (bool finished = false; !finished;) {
    const std::optional<std::size_t> channel = channel_to_deepen(machine, deepened);
    if (!channel) return result;
    deepened[*channel] = machine.channel(*channel).depth() + 1;
    finished = machine.resume_with(*channel, deepened[*channel]);
  }
  if (deepened.size() > 1) make_smallest(machine, deepened);
  result.freed_by.assign(deepened.begin(), deepened.end());
  result.freed_cycles = machine.run().cycles;
  return result;
}

namespace {

std::vector<float> widened(const std::vector<arith::Half>& halves) {
  std::vector<float> floats(halves.size());
  arith::floats_from_halves(halves.data(), floats.data(), halves.size());
  return floats;
}

}  // namespace

double StreamResult::scores_per_cycle() const {
  return static_cast<double>(graph.scores()) / static_cast<double>(std::max<std::uint64_t>(cycles, 1));
}

std::uint64_t StreamResult::intermediate_bytes() const {
  std::uint64_t bytes = 0;
  for (std::size_t c = 0; c < channels.size(); ++c) {
    const ChannelSpec& spec = graph.channels[c];
    if (graph.nodes[spec.from].operation->kind != NodeKind::kSource)
      bytes += channels[c].peak * spec.width * sizeof(float);
  }
  return bytes;
}

double StreamResult::energy_pj(const std::string& scope) const {
  double total = 0;
  for (const job::CounterValue& c : counters) {
    if (scope.empty() || c.module.find("." + scope + ".") != std::string::npos) total += c.energy_pj;
  }
  return total;
}

StreamRunner::StreamRunner(const Graph& graph, config::EnergyTable energy, std::uint64_t seed)
    : graph_(graph),
      energy_(energy::resolved(std::move(energy), MachineConfig{})),
      shape_{1, 1, graph.n, graph.n, graph.d, graph.mask},
      tensors_(job::random_attention(shape_, seed)),
      q_(widened(tensors_.q)),
      k_(widened(tensors_.k)),
      v_(widened(tensors_.v)),
      o_(shape_.query_elements()) {
  // SystemC warnings indicate a mistake in a model.
  sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_THROW);
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  machine_ = std::make_unique<Machine>("stream", graph_, q_.data(), k_.data(), v_.data(), o_.data());
}

StreamRunner::~StreamRunner() {
  machine_.reset();
  sc_core::sc_get_curr_simcontext()->reset();  // the next machine elaborates into a new simulation
}

void StreamRunner::set_depth(std::size_t channel, std::uint64_t depth) {
  graph_.channels[channel].depth = depth;
  machine_->set_depth(channel, depth);
}

StreamResult StreamRunner::run(const StreamOptions& options) {
  std::fill(o_.begin(), o_.end(), std::numeric_limits<float>::quiet_NaN());
  std::unique_ptr<trace::WaveformSession> waveform;
  if (options.waveform != nullptr)
    waveform = std::make_unique<trace::WaveformSession>(*machine_, machine_->clock(), *options.waveform);
  StreamResult result;
  result.graph = graph_;
  const auto start = std::chrono::steady_clock::now();
  const Machine::StreamOutcome outcome = machine_->run(waveform != nullptr);
  result.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (waveform != nullptr) waveform->end();
  if (!outcome.problem.empty()) {
    throw job::RunError(fmt::format("{} at N={}, d={}: {}", graph_.name, graph_.n, graph_.d, outcome.problem));
  }
  result.cycles = outcome.cycles;
  collect(result);

  result.deadlocked = !outcome.finished;
  if (result.deadlocked && options.explain) {
    result.deadlock = explain_deadlock(*machine_);
    for (std::size_t c = 0; c < graph_.channels.size(); ++c) machine_->set_depth(c, graph_.channels[c].depth);
  }
  const bool has_output = std::any_of(graph_.nodes.begin(), graph_.nodes.end(),
                                      [](const NodeSpec& node) { return node.operation->name == kOutputName; });
  if (outcome.finished && has_output && options.check_golden) result.golden = check_stream(shape_, tensors_, o_);
  return result;
}

void StreamRunner::collect(StreamResult& result) const {
  for (std::size_t c = 0; c < graph_.channels.size(); ++c) {
    const Channel& channel = machine_->channel(c);
    result.channels.push_back({channel.depth(), channel.peak.value(), channel.transfers.value()});
    result.transfers += channel.transfers.value();
  }
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    const Node& node = machine_->node(i);
    result.nodes.push_back({node.elements.value(), node.busy.value(), node.starved.value(), node.stalled.value()});
  }
  result.counters = job::read_counters(*machine_, energy_);
}

}  // namespace attnvp::stream
