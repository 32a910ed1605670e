#include <algorithm>
#include <utility>

#include "explore/tuning/strategy.h"

namespace attnvp::explore {

namespace {
constexpr double kBetter = 1 - 2e-3;  // smaller gains are ignored
constexpr double kWorthARun = 0.99;   // relative to the current cost: a vector whose lower bound is above it is not run
constexpr double kHopeless = 2;       // relative to the best cost: more expensive starting points are skipped
}  // namespace

std::vector<ParameterVector> Descent::propose() {
  if (!starts_.empty()) return std::exchange(starts_, {});
  while (true) {
    for (; !neighbours_.empty(); neighbours_.pop_back()) {
      const ParameterVector& next = neighbours_.back().vector;
      if (!known_.contains(next)) return {next};
    }
    const auto best = evaluated_.begin();
    if (best == evaluated_.end() || best->first.first > kHopeless * best_.first) return {};
    const auto [cost, vector] = *best;
    evaluated_.erase(best);
    move_to(vector, cost);
  }
}

void Descent::observe(const ParameterVector& vector, const Cost& cost) {
  known_.insert(vector);
  best_ = std::min(best_, cost);
  if (neighbours_.empty()) {
    if (cost.first < kNoLimit) evaluated_.emplace(cost, vector);
    return;
  }
  const std::uint32_t move = neighbours_.back().move;
  neighbours_.pop_back();
  if (cost.first > kBetter * here_.first) return;
  successes_[move] = ++steps_;
  // A starting point on the path would lead to the same end.
  std::erase_if(evaluated_, [&](const auto& start) { return start.second == vector; });
  move_to(vector, cost);
}

double Descent::limit() const { return neighbours_.empty() ? kHopeless * best_.first : kWorthARun * here_.first; }

// Moves that reduced the cost come first, the most recent one before all others.
void Descent::move_to(const ParameterVector& vector, const Cost& cost) {
  here_ = cost;
  neighbours_ = space_.neighbours(vector);
  std::reverse(neighbours_.begin(), neighbours_.end());
  std::stable_sort(neighbours_.begin(), neighbours_.end(),
                   [this](const auto& a, const auto& b) { return successes_[a.move] < successes_[b.move]; });
}

}  // namespace attnvp::explore
