#include "explore/tuning/strategy.h"

#include <fmt/format.h>

#include <algorithm>

#include "platform/machine/error.h"

namespace attnvp::explore {

namespace {
// Of the genetic algorithm.
constexpr std::size_t kPopulation = 24, kElite = 2;
constexpr int kTournament = 3;
constexpr std::uint64_t kCrossoverPercent = 80;
constexpr std::uint64_t kMutationPercent = 12;  // per parameter
constexpr std::uint64_t kStepPercent = 50;      // of mutations: to a neighbouring value
constexpr int kDraws = 100;                     // attempts to draw a legal vector
}  // namespace

std::vector<ParameterVector> GridSearch::propose() {
  constexpr std::size_t kAtATime = 64;  // batch for parallel processes
  std::vector<ParameterVector> batch;
  while (!ended_ && batch.size() < kAtATime) {
    ParameterVector& vector = batch.emplace_back();
    for (std::size_t i = 0; i < next_.size(); ++i) vector.push_back(space_.coarse_values(i)[next_[i]]);
    std::size_t digit = next_.size();
    while (digit > 0 && ++next_[digit - 1] == space_.coarse_values(digit - 1).size()) next_[--digit] = 0;
    ended_ = digit == 0;
  }
  return batch;
}

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

std::unique_ptr<Strategy> make_strategy(const std::string& name, Space& space, std::uint64_t seed,
                                        std::vector<ParameterVector> starts) {
  if (name == "descent") return std::make_unique<Descent>(space, std::move(starts));
  if (name == "grid") return std::make_unique<GridSearch>(space);
  if (name == "ga") return std::make_unique<Genetic>(space, seed, std::move(starts));
  if (name == "mcts") return std::make_unique<Mcts>(space, seed);
  throw config::ConfigError(fmt::format("strategy '{}' is unknown; allowed: descent, grid, ga, mcts", name));
}

}  // namespace attnvp::explore
