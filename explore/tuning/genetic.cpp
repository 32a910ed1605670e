#include <algorithm>

#include "explore/tuning/strategy.h"

namespace attnvp::explore {

namespace {
constexpr std::size_t kPopulation = 24, kElite = 2;
constexpr int kTournament = 3;
constexpr std::uint64_t kCrossoverPercent = 80;
constexpr std::uint64_t kMutationPercent = 12;  // per parameter
constexpr std::uint64_t kStepPercent = 50;      // of mutations: to a neighbouring value
constexpr int kDraws = 100;                     // attempts to draw a legal vector
}  // namespace

ParameterVector Genetic::random_vector() {
  ParameterVector vector;
  for (int draw = 0; draw < kDraws; ++draw) {
    vector.clear();
    for (std::size_t i = 0; i < space_.parameters(); ++i) vector.push_back(random_.one_of(space_.coarse_values(i)));
    if (space_.runs(vector)) break;
  }
  return vector;
}

const ParameterVector& Genetic::select() {
  std::size_t best = population_.size();  // the population is sorted by cost
  for (int i = 0; i < kTournament; ++i) best = std::min<std::size_t>(best, random_.below(population_.size()));
  return population_[best].second;
}

ParameterVector Genetic::child() {
  ParameterVector child = select();
  const ParameterVector& other = select();
  const bool crosses = random_.percent(kCrossoverPercent);
  for (std::size_t i = 0; i < child.size(); ++i) {
    if (crosses && random_.percent(50)) child[i] = other[i];
    if (!random_.percent(kMutationPercent)) continue;
    const std::vector<std::uint32_t>& values = space_.coarse_values(i);
    const auto at = std::find(values.begin(), values.end(), child[i]);
    if (random_.percent(kStepPercent) && at != values.end()) {
      const bool up = random_.percent(50);
      if (up && std::next(at) != values.end()) child[i] = *std::next(at);
      if (!up && at != values.begin()) child[i] = *std::prev(at);
    } else {
      child[i] = random_.one_of(values);
    }
  }
  return child;
}

std::vector<ParameterVector> Genetic::propose() {
  std::vector<ParameterVector> next;
  if (population_.empty()) {
    next = starts_;
    while (next.size() < kPopulation) next.push_back(random_vector());
    return next;
  }
  std::stable_sort(population_.begin(), population_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const std::size_t elite = std::min(kElite, population_.size());
  while (elite + next.size() < kPopulation) next.push_back(child());
  population_.resize(elite);
  return next;
}

}  // namespace attnvp::explore
