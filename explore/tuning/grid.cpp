#include "explore/tuning/strategy.h"

namespace attnvp::explore {

std::vector<ParameterVector> GridSearch::propose() {
  constexpr std::size_t kAtATime = 64;  // batch for parallel processes
  std::vector<ParameterVector> batch;
  while (!ended_ && batch.size() < kAtATime) {
    ParameterVector vector;
    for (std::size_t i = 0; i < next_.size(); ++i) vector.push_back(space_.coarse_values(i)[next_[i]]);
    if (space_.runs(vector)) batch.push_back(vector);
    std::size_t digit = next_.size();
    while (digit > 0 && ++next_[digit - 1] == space_.coarse_values(digit - 1).size()) next_[--digit] = 0;
    ended_ = digit == 0;
  }
  return batch;
}

}  // namespace attnvp::explore
