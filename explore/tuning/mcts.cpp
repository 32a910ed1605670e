#include <algorithm>
#include <cmath>

#include "explore/tuning/strategy.h"

namespace attnvp::explore {

namespace {
constexpr double kExploration = 0.2;  // rewards of good vectors differ by a few per cent
constexpr int kTrips = 10'000;  // descents without a new legal vector after which the space is considered exhausted
}  // namespace

void Mcts::expand(std::uint32_t index) {
  const std::uint32_t depth = nodes_[index].depth;
  for (std::size_t i = 0; i < space_.coarse_values(depth).size(); ++i) {
    SearchNode child;
    child.depth = depth + 1;
    child.value = space_.coarse_values(depth)[i];
    nodes_[index].children.push_back(static_cast<std::uint32_t>(nodes_.size()));
    nodes_.push_back(child);
  }
}

// Returns 0 if all children are closed.
std::uint32_t Mcts::choose(const SearchNode& node) {
  std::vector<std::uint32_t> fresh;
  std::uint32_t best = 0;
  double best_value = -1;
  for (const std::uint32_t i : node.children) {
    const SearchNode& child = nodes_[i];
    if (child.closed) continue;
    if (child.visits == 0) {
      fresh.push_back(i);
      continue;
    }
    // Averages mean and best reward, because a good subtree may contain a single good vector.
    const double value = (child.sum / child.visits + child.best) / 2 +
                         kExploration * std::sqrt(std::log(static_cast<double>(node.visits)) / child.visits);
    if (value > best_value) {
      best_value = value;
      best = i;
    }
  }
  return fresh.empty() ? best : fresh[random_.below(fresh.size())];
}

std::vector<ParameterVector> Mcts::propose() {
  const auto depth = static_cast<std::uint32_t>(space_.parameters());
  for (int trip = 0; trip < kTrips && !nodes_[0].closed; ++trip) {
    path_.assign(1, 0);
    bool dead_end = false;
    while (nodes_[path_.back()].depth < depth && (path_.size() == 1 || nodes_[path_.back()].visits > 0)) {
      if (nodes_[path_.back()].children.empty()) expand(path_.back());
      const std::uint32_t child = choose(nodes_[path_.back()]);
      dead_end = child == 0;
      if (dead_end) break;
      path_.push_back(child);
    }
    if (dead_end) {
      nodes_[path_.back()].closed = true;
      continue;
    }
    ParameterVector vector;
    for (std::size_t i = 1; i < path_.size(); ++i) vector.push_back(nodes_[path_[i]].value);
    while (vector.size() < depth) {
      const std::vector<std::uint32_t>& values = space_.coarse_values(vector.size());
      vector.push_back(values[random_.below(values.size())]);
    }
    if (nodes_[path_.back()].depth == depth) nodes_[path_.back()].closed = true;
    const auto known = known_.find(vector);
    if (known == known_.end() && space_.runs(vector)) return {vector};
    const bool finite = known != known_.end() && std::isfinite(known->second.first);
    reward(finite ? reference_ / known->second.first : 0);
  }
  return {};
}

void Mcts::reward(double reward) {
  for (const std::uint32_t i : path_) {
    SearchNode& node = nodes_[i];
    ++node.visits;
    node.sum += reward;
    node.best = std::max(node.best, reward);
  }
}

void Mcts::observe(const ParameterVector& vector, const Cost& cost) {
  known_[vector] = cost;
  const bool finite = std::isfinite(cost.first);
  if (finite && reference_ == 0) reference_ = cost.first;
  reward(finite ? reference_ / cost.first : 0);
}

}  // namespace attnvp::explore
