#include "models/sim/trace/command_trace.h"

#include <algorithm>

namespace attnvp {

void CommandTrace::took(std::uint64_t event, std::uint32_t tokens, Id taker, std::uint64_t now) {
  std::deque<GivenTokens>& queue = tokens_[event];
  Id last = kNone;
  while (tokens > 0 && !queue.empty()) {
    GivenTokens& given = queue.front();
    const std::uint32_t n = std::min(tokens, given.tokens);
    tokens -= n;
    given.tokens -= n;
    if (given.giver != kNone && taker != kNone && given.giver != last) {
      arrows_.push_back({given.giver, taker, event, given.cycle, now});
    }
    last = given.giver;
    if (given.tokens == 0) queue.pop_front();
  }
}

}  // namespace attnvp
