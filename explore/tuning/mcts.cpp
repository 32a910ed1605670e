#include <cmath>

#include "explore/tuning/strategy.h"

namespace attnvp::explore {

namespace {
constexpr double kExploration = 0.2;  // rewards of good vectors differ by a few per cent
}  // namespace

// The next value below a visited node: one without visits, or the best by UCT; 0 if all are closed.
std::uint32_t Mcts::choose(const ParameterVector& prefix) {
  std::vector<std::uint32_t> fresh;
  std::uint32_t best = 0;
  double best_value = -1;
  ParameterVector child = prefix;
  child.push_back(0);
  for (const std::uint32_t value : space_.coarse_values(prefix.size())) {
    child.back() = value;
    const auto found = nodes_.find(child);
    if (found == nodes_.end()) {
      fresh.push_back(value);
      continue;
    }
    const SearchNode& node = found->second;
    if (node.is_closed) continue;
    // Averages mean and best reward, because a good subtree may contain a single good vector.
    const double worth = (node.sum / node.visits + node.best) / 2 +
                         kExploration * std::sqrt(std::log(1.0 * nodes_[prefix].visits) / node.visits);
    if (worth > best_value) best_value = worth, best = value;
  }
  return fresh.empty() ? best : random_.one_of(fresh);
}

std::vector<ParameterVector> Mcts::propose() {
  while (!nodes_[{}].is_closed) {
    ParameterVector vector;
    while (vector.size() < space_.parameters()) {
      const bool is_visited = nodes_.contains(vector);
      vector.push_back(is_visited ? choose(vector) : random_.one_of(space_.coarse_values(vector.size())));
      if (vector.back() == 0) break;
    }
    if (vector.empty() || vector.back() != 0) return {vector};
    vector.pop_back();
    nodes_[vector].is_closed = true;
  }
  return {};
}

// Visits the nodes of the tree on the vector's path, and the first one below them.
void Mcts::observe(const ParameterVector& vector, const Cost& cost) {
  const bool finite = std::isfinite(cost.first);
  if (finite && reference_ == 0) reference_ = cost.first;
  const double reward = finite ? reference_ / cost.first : 0;
  ParameterVector prefix;
  for (bool is_known = true; is_known; prefix.push_back(vector[prefix.size()])) {
    is_known = nodes_.contains(prefix) && prefix.size() < vector.size();
    SearchNode& node = nodes_[prefix];
    ++node.visits;
    node.sum += reward;
    node.best = std::max(node.best, reward);
    node.is_closed = prefix.size() == vector.size();
    if (!is_known) break;
  }
}

}  // namespace attnvp::explore
