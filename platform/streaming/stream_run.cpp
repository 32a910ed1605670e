#include "platform/streaming/stream_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "platform/machine/energy/machine_model.h"
#include "platform/run/job.h"

namespace attnvp::stream {

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
    if (graph.nodes[spec.from].operation->kind != Kind::kSource) bytes += channels[c].peak * spec.width * sizeof(float);
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

Runner::Runner(const Graph& graph, config::EnergyTable energy, std::uint64_t seed)
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

Runner::~Runner() {
  machine_.reset();
  sc_core::sc_get_curr_simcontext()->reset();  // the next machine elaborates into a new simulation
}

void Runner::set_depth(std::size_t channel, std::uint64_t depth) {
  graph_.channels[channel].depth = depth;
  machine_->set_depth(channel, depth);
}

StreamResult Runner::run(const Options& options) {
  std::fill(o_.begin(), o_.end(), std::numeric_limits<float>::quiet_NaN());
  std::unique_ptr<trace::WaveformSession> waveform;
  if (options.waveform != nullptr)
    waveform = std::make_unique<trace::WaveformSession>(*machine_, machine_->clock(), *options.waveform);
  StreamResult result;
  result.graph = graph_;
  const auto start = std::chrono::steady_clock::now();
  const Machine::Outcome outcome = machine_->run(waveform != nullptr);
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

void Runner::collect(StreamResult& result) const {
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
