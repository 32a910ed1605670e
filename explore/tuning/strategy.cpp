#include "explore/tuning/strategy.h"

#include <fmt/format.h>

#include "platform/machine/error.h"

namespace attnvp::explore {

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

std::unique_ptr<Strategy> make_strategy(const std::string& name, Space& space, std::uint64_t seed,
                                        std::vector<ParameterVector> starts) {
  if (name == "descent") return std::make_unique<Descent>(space, std::move(starts));
  if (name == "grid") return std::make_unique<GridSearch>(space);
  if (name == "ga") return std::make_unique<Genetic>(space, seed, std::move(starts));
  if (name == "mcts") return std::make_unique<Mcts>(space, seed);
  throw config::ConfigError(fmt::format("strategy '{}' is unknown; allowed: descent, grid, ga, mcts", name));
}

}  // namespace attnvp::explore
