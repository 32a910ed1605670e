#include <algorithm>
#include <limits>
#include <numeric>

#include "explore/search/strategy.h"

namespace attnvp::explore {

namespace {
constexpr std::size_t kAhead = 32;  // points that may be simulated side by side
}

void Grid::run(Evaluator& evaluator) {
  std::vector<std::uint64_t> order(evaluator.space().size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint64_t a, std::uint64_t b) { return evaluator.bound(a) < evaluator.bound(b); });
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i % kAhead == 0) {
      evaluator.expect({order.begin() + static_cast<std::ptrdiff_t>(i),
                        order.begin() + static_cast<std::ptrdiff_t>(std::min(i + kAhead, order.size()))});
    }
    const std::uint64_t number = order[i];
    if (evaluator.hopeless(number)) continue;
    if (evaluator.bound(number).first == std::numeric_limits<double>::infinity()) continue;  // does not fit
    if (evaluator.exhausted()) return;
    evaluator.cost(number);
  }
  complete_ = true;
}

}  // namespace attnvp::explore
