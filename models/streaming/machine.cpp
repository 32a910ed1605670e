#include "models/streaming/machine.h"

#include <fmt/format.h>

namespace attnvp::stream {

ChannelScope::ChannelScope(sc_core::sc_module_name name, Context& context, const Graph& graph)
    : sc_core::sc_module(name) {
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
    if (spec.operation->kind == NodeKind::kSource) node->bind_tensor(tensors[static_cast<std::size_t>(spec.tensor)]);
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

Machine::StreamOutcome Machine::run(bool traced) {
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
  StreamOutcome outcome;
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

namespace {

const char* const kStates[] = {"idle", "working", "waits_for_data", "waits_for_room", nullptr};

}  // namespace

Node::Node(sc_core::sc_module_name name, Context& context, const NodeSpec& spec, const Graph& graph)
    : Module(name, context),
      spec_(spec),
      rows_(graph.n),
      mask_(graph.mask),
      firings_(graph.firings(spec)),
      inputs_(spec.operation->inputs.size()),
      in_(inputs_.size()),
      memory_(spec.width),
      state_(*this, "state", kStates) {
  for (std::size_t i = 0; i < spec.operation->outputs.size(); ++i) results_.emplace_back(spec.width);
  for (auto& result : results_) out_.push_back(result.data());
  if (spec.operation->kind == NodeKind::kSource) in_.resize(1);
  if (spec.operation->kind == NodeKind::kSink) out_.resize(1);
  SC_HAS_PROCESS(Node);
  SC_METHOD(run);
  sensitive << wake_;
  dont_initialize();
  begin_row();
}

void Node::begin_row() {
  column_ = 0;
  if (spec_.per_row) return;
  seen_ = hal::visible_rows(mask_, row_, 1, rows_);
  length_ = seen_.count();
}

void Node::connect_input(std::size_t port, Channel& channel) {
  inputs_[port].channel = &channel;
  if (channel.spec().per_row && !spec_.per_row) inputs_[port].held.resize(channel.spec().width);
  channel.connect_reader(wake_);
}

void Node::connect_output(std::size_t port, Channel& channel) {
  outputs_.push_back({&channel, port});
  channel.connect_writer(wake_);
}

void Node::run() {
  wait_ = {};
  while (fired_ < firings_) {
    if (!holds_ && !take()) return;
    if (!send()) return;
  }
  record(now_, kIdle);
}

// At score (i, j): row i of Q, row j of K and V. A node that fires per row takes row after row.
float* Node::tensor_row() const {
  const std::uint64_t key = column_ < seen_.head ? column_ : seen_.first + (column_ - seen_.head);
  return tensor_ + (spec_.per_row || spec_.tensor == Tensor::kQ ? row_ : key) * spec_.width;
}

bool Node::take() {
  std::uint64_t cycle = now_;
  for (const NodeInput& input : inputs_) {
    if (!input_due(input)) continue;
    if (!input.channel->has_data()) {
      input.channel->wait_for_data();
      wait_ = {input.channel, false, now_};
      return false;
    }
    cycle = std::max(cycle, input.channel->arrival());
  }
  out_of_time_ = cycle > kLastCycle;
  if (out_of_time_) return false;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    NodeInput& input = inputs_[i];
    const bool due = input_due(input);
    if (due && !input.held.empty()) std::copy_n(input.channel->value(), input.held.size(), input.held.data());
    in_[i] = input.held.empty() ? input.channel->value() : input.held.data();
  }
  if (spec_.operation->kind == NodeKind::kSource) in_[0] = tensor_row();
  if (spec_.operation->kind == NodeKind::kSink && tensor_ != nullptr) out_[0] = tensor_row();
  spec_.operation->compute({in_.data(), out_.data(), memory_.data(), spec_.width, column_ == 0});
  for (const NodeInput& input : inputs_) {
    if (input_due(input)) input.channel->pop(cycle);
  }
  if (cycle > now_) {
    record(now_, kWaitsForData);
    starved_cycles_ += cycle - now_;
  }
  record(cycle, kWaitsForRoom);  // replaced if it sends in the same cycle
  holds_ = true;
  last_ = taken_ = cycle;
  return true;
}

bool Node::send() {
  std::uint64_t cycle = taken_;
  for (const NodeOutput& output : outputs_) {
    if (!output_due(output)) continue;
    if (!output.channel->has_room()) {
      output.channel->wait_for_room();
      wait_ = {output.channel, true, taken_};
      return false;
    }
    cycle = std::max(cycle, output.channel->room_cycle());
  }
  for (const NodeOutput& output : outputs_) {
    if (output_due(output)) output.channel->push(cycle, taken_ + spec_.latency, results_[output.port].data());
  }
  record(cycle, kWorking);
  stalled_cycles_ += cycle - taken_;
  holds_ = false;
  last_ = cycle;
  now_ = cycle + spec_.ii;
  ++fired_;
  if (++column_ < length_ || ++row_ == rows_) return true;
  begin_row();
  return true;
}

void Node::count() {
  if (wait_.channel != nullptr && !wait_.for_space) record(wait_.since, kWaitsForData);
  const FiringWork& work = spec_.operation->work;
  elements += fired_;
  busy += fired_ * spec_.ii;
  starved += starved_cycles_;
  stalled += stalled_cycles_;
  arithmetic += fired_ * (work.arithmetic + std::uint64_t{work.arithmetic_per_lane} * spec_.width);
  exponentials += fired_ * work.exponentials;
  divisions += fired_ * work.divisions_per_lane * spec_.width;
}

void Node::reset() {
  fired_ = now_ = taken_ = last_ = starved_cycles_ = stalled_cycles_ = 0;
  row_ = 0;
  begin_row();
  holds_ = out_of_time_ = false;
  wait_ = {};
  state_.set(kIdle);
}

}  // namespace attnvp::stream
