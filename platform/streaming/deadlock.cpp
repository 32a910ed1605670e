#include "platform/streaming/deadlock.h"

#include <algorithm>
#include <map>
#include <optional>

namespace attnvp::stream {

std::vector<Blocked> blocked_nodes(const Machine& machine) {
  const Graph& graph = machine.graph();
  std::vector<Blocked> blocked;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Wait& wait = machine.node(i).wait_state();
    if (wait.channel == nullptr) continue;
    for (std::size_t c = 0; c < graph.channels.size(); ++c) {
      if (&machine.channel(c) != wait.channel) continue;
      blocked.push_back(
          {i, c, wait.for_room, wait.since, wait.for_room ? graph.channels[c].to : graph.channels[c].from});
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
      if (blocked[i].for_room && (!choice || deepened.count(c) > 0)) choice = c;
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

}  // namespace attnvp::stream
