#include <algorithm>
#include <utility>

#include "explore/tuning/strategy.h"

namespace attnvp::explore {

namespace {
constexpr double kBetter = 1 - 2e-3;  // smaller gains are ignored
constexpr double kWorthARun = 0.99;   // relative to the current cost: a vector whose lower bound is above it is not run
constexpr double kHopeless = 2;       // relative to the best cost: more expensive starting points are skipped
}  // namespace

Descent::Descent(Space& space, std::vector<ParameterVector> starts) : space_(space), starts_(std::move(starts)) {}

std::vector<ParameterVector> Descent::propose() {
  if (!starts_.empty()) return std::exchange(starts_, {});
  while (true) {
    while (!neighbours_.empty()) {
      const ParameterVector& next = neighbours_.back().vector;
      if (known_.count(next) == 0) return {next};
      neighbours_.pop_back();
    }
    if (evaluated_.empty()) return {};
    const auto best = std::min_element(evaluated_.begin(), evaluated_.end(),
                                       [](const auto& a, const auto& b) { return a.first < b.first; });
    const auto [cost, vector] = *best;
    if (cost.first > kHopeless * best_.first) return {};
    evaluated_.erase(best);
    move_to(vector, cost);
  }
}

void Descent::observe(const ParameterVector& vector, const Cost& cost) {
  known_.insert(vector);
  best_ = std::min(best_, cost);
  if (neighbours_.empty()) {
    if (cost.first < Cost().first) evaluated_.emplace_back(cost, vector);
    return;
  }
  const std::uint32_t move = neighbours_.back().move;
  neighbours_.pop_back();
  if (cost.first > kBetter * here_.first) return;
  successes_[move] = ++steps_;
  // A starting point on the path would lead to the same end.
  const auto passed = [&](const auto& start) { return start.second == vector; };
  evaluated_.erase(std::remove_if(evaluated_.begin(), evaluated_.end(), passed), evaluated_.end());
  move_to(vector, cost);
}

double Descent::limit() const {
  if (!neighbours_.empty()) return kWorthARun * here_.first;
  return kHopeless * best_.first;
}

// Moves that reduced the cost come first, the most recent one before all others.
void Descent::move_to(const ParameterVector& vector, const Cost& cost) {
  here_ = cost;
  neighbours_ = space_.neighbours(vector);
  const auto success = [this](const Space::SpaceNeighbour& n) {
    const auto found = successes_.find(n.move);
    return found == successes_.end() ? 0 : found->second;
  };
  std::stable_sort(neighbours_.begin(), neighbours_.end(),
                   [&](const auto& a, const auto& b) { return success(a) > success(b); });
  std::reverse(neighbours_.begin(), neighbours_.end());
}

}  // namespace attnvp::explore
