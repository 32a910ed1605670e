#include <algorithm>
#include <cmath>
#include <limits>

#include "explore/search/strategy.h"

namespace attnvp::explore {

namespace {
constexpr double kExploration = 0.2;  // rewards of good tilings differ by some per cent
}  // namespace

void Mcts::expand(const Evaluator& evaluator, std::uint32_t index) {
  const Space& space = evaluator.space();
  const std::uint32_t depth = nodes_[index].depth;
  const std::uint64_t below = space.points_below(depth + 1);
  for (std::uint64_t i = 0; i < space.values(depth).size(); ++i) {
    Node child;
    child.first = nodes_[index].first + i * below;
    child.depth = depth + 1;
    for (std::uint64_t n = child.first; n < child.first + below; ++n)
      child.least = std::min(child.least, evaluator.bound(n));
    nodes_[index].children.push_back(static_cast<std::uint32_t>(nodes_.size()));
    nodes_.push_back(std::move(child));
  }
}

// Something below may still be better than the best known.
bool Mcts::open(const Evaluator& evaluator, const Node& node) const {
  if (node.closed || node.least.first == std::numeric_limits<double>::infinity()) return false;
  if (node.depth == evaluator.space().dimensions())
    return !evaluator.known(node.first) && !evaluator.hopeless(node.first);
  return !evaluator.prunes() || node.least < evaluator.best();
}

std::uint32_t Mcts::choose(const Evaluator& evaluator, const Node& node) {
  std::vector<std::uint32_t> fresh;
  std::uint32_t best = 0;
  double best_value = -1;
  for (const std::uint32_t i : node.children) {
    const Node& child = nodes_[i];
    if (!open(evaluator, child)) continue;
    if (child.visits == 0) {
      fresh.push_back(i);
      continue;
    }
    // The best reward below counts as much as the mean: a good subtree has one good point.
    const double value = (child.sum / child.visits + child.best) / 2 +
                         kExploration * std::sqrt(std::log(static_cast<double>(node.visits)) / child.visits);
    if (value > best_value) {
      best_value = value;
      best = i;
    }
  }
  return fresh.empty() ? best : fresh[random_.below(fresh.size())];
}

// Of a few random points below the node the one with the least bound; one that is not known, if the draws give one.
std::uint64_t Mcts::roll_out(const Evaluator& evaluator, const Node& node) {
  const std::uint64_t below = evaluator.space().points_below(node.depth);
  std::uint64_t best = node.first + random_.below(below);
  for (int draw = 1; draw < kDraws; ++draw) {
    const std::uint64_t other = node.first + random_.below(below);
    if (evaluator.known(other)) continue;
    if (evaluator.known(best) || evaluator.bound(other) < evaluator.bound(best)) best = other;
  }
  return best;
}

void Mcts::run(Evaluator& evaluator) {
  const std::size_t dimensions = evaluator.space().dimensions();
  nodes_.assign(1, Node{});
  for (std::uint64_t n = 0; n < evaluator.space().size(); ++n) {
    nodes_[0].least = std::min(nodes_[0].least, evaluator.bound(n));
  }
  std::vector<std::uint32_t> path;
  while (!evaluator.exhausted() && open(evaluator, nodes_[0])) {
    path.assign(1, 0);
    bool dead_end = false;
    // Down to a node that was never visited, or to a point.
    while (nodes_[path.back()].depth < dimensions && (path.size() == 1 || nodes_[path.back()].visits > 0)) {
      if (nodes_[path.back()].children.empty()) expand(evaluator, path.back());
      const std::uint32_t child = choose(evaluator, nodes_[path.back()]);
      dead_end = child == 0;
      if (dead_end) break;
      path.push_back(child);
    }
    if (dead_end) {
      nodes_[path.back()].closed = true;
      continue;
    }
    const std::uint64_t number = roll_out(evaluator, nodes_[path.back()]);
    const double cost = evaluator.cost(number);
    const double reward = std::isinf(cost) ? 0 : evaluator.space_bound() / cost;
    for (const std::uint32_t i : path) {
      Node& node = nodes_[i];
      ++node.visits;
      node.sum += reward;
      node.best = std::max(node.best, reward);
    }
    if (nodes_[path.back()].depth == dimensions) nodes_[path.back()].closed = true;
  }
}

}  // namespace attnvp::explore
