#include <algorithm>

#include "explore/tuning/strategy.h"

namespace attnvp::explore {

namespace {
constexpr std::size_t kPopulation = 24, kElite = 2;
constexpr int kTournament = 3;
constexpr std::uint64_t kCrossoverPercent = 80;
constexpr std::uint64_t kMutationPercent = 12;  // per parameter
constexpr std::uint64_t kStepPercent = 50;      // of mutations: to a neighbouring value
constexpr int kIdleGenerations = 50;
constexpr int kDraws = 100;  // attempts to draw a legal vector
}  // namespace

Genetic::Genetic(Space& space, std::uint64_t seed, std::vector<ParameterVector> starts)
    : space_(space), random_(seed), starts_(std::move(starts)) {}

ParameterVector Genetic::random_vector() {
  ParameterVector vector;
  for (int draw = 0; draw < kDraws; ++draw) {
    vector.clear();
    for (std::size_t i = 0; i < space_.parameters(); ++i) {
      vector.push_back(space_.coarse_values(i)[random_.below(space_.coarse_values(i).size())]);
    }
    if (space_.runs(vector)) break;
  }
  return vector;
}

const Genetic::Individual& Genetic::select() {
  const Individual* best = nullptr;
  for (int i = 0; i < kTournament; ++i) {
    const Individual& candidate = population_[random_.below(population_.size())];
    if (best == nullptr || candidate.cost < best->cost) best = &candidate;
  }
  return *best;
}

ParameterVector Genetic::child() {
  const ParameterVector &a = select().genes, &b = select().genes;
  ParameterVector child = a;
  const bool crosses = random_.percent(kCrossoverPercent);
  for (std::size_t i = 0; i < child.size(); ++i) {
    if (crosses && random_.percent(50)) child[i] = b[i];
    if (!random_.percent(kMutationPercent)) continue;
    const std::vector<std::uint32_t>& values = space_.coarse_values(i);
    const auto at = std::find(values.begin(), values.end(), child[i]);
    if (random_.percent(kStepPercent) && at != values.end()) {
      const bool up = random_.percent(50);
      if (up && std::next(at) != values.end()) child[i] = *std::next(at);
      if (!up && at != values.begin()) child[i] = *std::prev(at);
    } else {
      child[i] = values[random_.below(values.size())];
    }
  }
  return child;
}

std::vector<ParameterVector> Genetic::propose() {
  if (!begun_) {
    begun_ = true;
    std::vector<ParameterVector> first = starts_;
    while (first.size() < kPopulation) first.push_back(random_vector());
    first.erase(std::remove_if(first.begin(), first.end(), [&](const auto& v) { return !space_.runs(v); }),
                first.end());
    return first;
  }
  while (idle_ < kIdleGenerations && !population_.empty()) {
    std::stable_sort(population_.begin(), population_.end(),
                     [](const Individual& a, const Individual& b) { return a.cost < b.cost; });
    std::vector<Individual> next(
        population_.begin(), population_.begin() + static_cast<std::ptrdiff_t>(std::min(kElite, population_.size())));
    std::vector<ParameterVector> fresh;
    while (next.size() + fresh.size() < kPopulation) {
      ParameterVector one = child();
      const auto known = known_.find(one);
      if (known != known_.end()) {
        next.push_back({one, known->second});
      } else if (space_.runs(one)) {
        fresh.push_back(std::move(one));
      } else {
        next.push_back({std::move(one), {}});
      }
    }
    population_ = std::move(next);
    idle_ = fresh.empty() ? idle_ + 1 : 0;
    if (!fresh.empty()) return fresh;
  }
  return {};
}

void Genetic::observe(const ParameterVector& vector, const Cost& cost) {
  known_[vector] = cost;
  population_.push_back({vector, cost});
}

}  // namespace attnvp::explore
