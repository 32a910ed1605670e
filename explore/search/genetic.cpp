#include <algorithm>

#include "explore/search/strategy.h"

namespace attnvp::explore {

namespace {
constexpr std::size_t kPopulation = 20;
constexpr std::size_t kElite = 2;
constexpr int kTournament = 3;
constexpr std::uint64_t kCrossoverPercent = 90;
constexpr std::uint64_t kMutationPercent = 12;  // per tile size: about one of nine
constexpr std::uint64_t kStepPercent = 50;      // of mutations: to a neighbouring value
constexpr int kIdleGenerations = 50;            // without one simulation: the population has seen what it can reach
}  // namespace

// Of a few random points the one with the least bound.
Point Genetic::random_point(const Evaluator& evaluator) {
  std::uint64_t best = random_.below(evaluator.space().size());
  for (int draw = 1; draw < kDraws; ++draw) {
    const std::uint64_t other = random_.below(evaluator.space().size());
    if (evaluator.bound(other) < evaluator.bound(best)) best = other;
  }
  return evaluator.space().point(best);
}

const Genetic::Individual& Genetic::select(const std::vector<Individual>& population) {
  const Individual* best = nullptr;
  for (int i = 0; i < kTournament; ++i) {
    const Individual& candidate = population[random_.below(population.size())];
    if (best == nullptr || candidate.cost < best->cost) best = &candidate;
  }
  return *best;
}

Point Genetic::child_of(const Space& space, const Point& a, const Point& b) {
  Point child = a;
  const bool cross = random_.percent(kCrossoverPercent);
  for (std::size_t d = 0; d < space.dimensions(); ++d) {
    if (cross && random_.percent(50)) child[d] = b[d];
    if (!random_.percent(kMutationPercent)) continue;
    const std::uint64_t n = space.values(d).size();
    if (random_.percent(kStepPercent)) {
      child[d] = static_cast<std::uint8_t>(random_.percent(50) ? std::min<std::uint64_t>(child[d] + 1U, n - 1)
                                                               : (child[d] > 0 ? child[d] - 1U : 0U));
    } else {
      child[d] = static_cast<std::uint8_t>(random_.below(n));
    }
  }
  return child;
}

void Genetic::run(Evaluator& evaluator) {
  const Space& space = evaluator.space();
  const auto cost = [&](const Point& genes) { return evaluator.cost(space.number(genes)); };
  const auto cheaper = [](const Individual& a, const Individual& b) { return a.cost < b.cost; };
  std::vector<Individual> population;
  for (const Point& genes : start_) population.push_back({genes, cost(genes)});
  const auto join = [&](std::vector<Individual>& members, const std::vector<Point>& all) {
    std::vector<std::uint64_t> numbers;
    for (const Point& genes : all) numbers.push_back(space.number(genes));
    evaluator.expect(numbers);
    for (const Point& genes : all) {
      if (!evaluator.exhausted()) members.push_back({genes, cost(genes)});
    }
  };
  std::vector<Point> first;
  while (population.size() + first.size() < kPopulation) first.push_back(random_point(evaluator));
  join(population, first);
  for (int idle = 0; idle < kIdleGenerations && !evaluator.exhausted();) {
    const std::size_t before = evaluator.log().size();
    std::stable_sort(population.begin(), population.end(), cheaper);
    std::vector<Individual> next(population.begin(),
                                 population.begin() + static_cast<std::ptrdiff_t>(std::min(kElite, population.size())));
    std::vector<Point> children;
    while (next.size() + children.size() < kPopulation) {
      children.push_back(child_of(space, select(population).genes, select(population).genes));
    }
    join(next, children);
    population = std::move(next);
    idle = evaluator.log().size() == before ? idle + 1 : 0;
  }
}

std::unique_ptr<Strategy> make_strategy(const std::string& name, std::uint64_t seed, std::vector<Point> start) {
  if (name == "grid") return std::make_unique<Grid>();
  if (name == "ga") return std::make_unique<Genetic>(seed, std::move(start));
  if (name == "mcts") return std::make_unique<Mcts>(seed);
  return nullptr;
}

}  // namespace attnvp::explore
