#include <algorithm>
#include <limits>
#include <numeric>

#include "explore/search/strategy.h"

namespace attnvp::explore {

void Grid::run(Evaluator& evaluator) {
  std::vector<std::uint64_t> order(evaluator.space().size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint64_t a, std::uint64_t b) { return evaluator.bound(a) < evaluator.bound(b); });
  for (const std::uint64_t number : order) {
    if (evaluator.hopeless(number)) continue;
    if (evaluator.bound(number).first == std::numeric_limits<double>::infinity()) continue;  // does not fit
    if (evaluator.exhausted()) return;
    evaluator.cost(number);
  }
  complete_ = true;
}

}  // namespace attnvp::explore
