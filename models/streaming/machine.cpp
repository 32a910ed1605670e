#include "models/streaming/machine.h"

#include <fmt/format.h>

namespace attnvp::stream {

Channels::Channels(sc_core::sc_module_name name, Context& context, const Graph& graph) : sc_core::sc_module(name) {
  for (const ChannelSpec& spec : graph.channels) {
    all.push_back(std::make_unique<Channel>(spec.name.c_str(), context, spec));
  }
}

Nodes::Nodes(sc_core::sc_module_name name, Context& context, const Graph& graph) : sc_core::sc_module(name) {
  for (const NodeSpec& spec : graph.nodes) {
    all.push_back(std::make_unique<Node>(spec.name.c_str(), context, spec, graph));
  }
}

Machine::Machine(sc_core::sc_module_name name, const Graph& graph, float* q, float* k, float* v, float* o)
    : sc_core::sc_module(name),
      graph_(graph),
      context_(graph.clock_hz, true),
      log_("log", context_.clock),
      channels_("channels", context_, graph_),
      nodes_("nodes", context_, graph_) {
  for (std::size_t i = 0; i < graph_.channels.size(); ++i) {
    const ChannelSpec& spec = graph_.channels[i];
    nodes_.all[spec.from]->connect_output(spec.from_port, *channels_.all[i]);
    nodes_.all[spec.to]->connect_input(spec.to_port, *channels_.all[i]);
  }
  float* const tensors[] = {q, k, v};
  for (auto& node : nodes_.all) {
    const NodeSpec& spec = node->spec();
    if (spec.operation->kind == Kind::kSource) node->bind_tensor(tensors[static_cast<std::size_t>(spec.tensor)]);
    if (spec.operation->name == kOutputName) node->bind_tensor(o);
  }
}

// Nodes notify each other without delay; the kernel returns when no node can proceed at this time.
bool Machine::go_on() {
  bool grown = false;
  do {
    sc_core::sc_start();
    grown = false;
    for (auto& channel : channels_.all) grown = channel->grow_window() || grown;
  } while (grown);
  return std::all_of(nodes_.all.begin(), nodes_.all.end(), [](const auto& node) { return node->done(); });
}

Machine::Outcome Machine::run(bool traced) {
  for_each_module(*this, [&](Module& module) {
    for (Counter* counter : module.counters()) counter->reset();
  });
  TraceLog* const log = traced ? &log_ : nullptr;
  for (auto& node : nodes_.all) {
    node->set_trace(log);
    node->reset();
  }
  for (auto& channel : channels_.all) {
    channel->set_trace(log);
    channel->reset();
  }
  for (auto& node : nodes_.all) node->start();
  Outcome outcome;
  outcome.finished = go_on();
  for (auto& node : nodes_.all) {
    node->count();
    outcome.cycles = std::max({outcome.cycles, node->last_cycle(), node->wait_state().since});
  }
  for (auto& channel : channels_.all) {
    channel->count();
    if (!channel->refusal().empty()) outcome.problem = channel->refusal();
  }
  for (auto& node : nodes_.all) {
    if (node->out_of_time()) outcome.problem = fmt::format("it takes more than {} cycles", kLastCycle);
  }
  if (!outcome.problem.empty()) return outcome;
  context_.event_queue.time_has_run_out = false;
  const std::uint64_t last_change = traced ? log_.play() : 0;
  sc_core::sc_start(context_.clock.cycles(std::max(outcome.cycles, last_change) + 1));
  if (traced && context_.event_queue.time_has_run_out) {
    outcome.problem = fmt::format("its waveform ends at cycle {}, after 2^64 fs", context_.clock.most_cycles());
  }
  return outcome;
}

bool Machine::resume_with(std::size_t channel, std::uint64_t depth) {
  channels_.all[channel]->set_depth(depth);
  channels_.all[channel]->release_writer();
  return go_on();
}

}  // namespace attnvp::stream
