// Progress engine: advances lines as far as tokens, the processor and, optionally, queue depths allow. As every event
// has one taker, the result does not depend on the order of execution.
// One line can be held: it gives no tokens beyond a step, so that steps that still proceed do not depend on it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "platform/schedule/check/trace.h"

namespace attnvp::schedule::check {

class Progress {
 public:
  enum class Queues : std::uint8_t { kEndless, kAsDeep };
  Progress(const Trace& trace, Queues queues, Tokens tokens = Tokens::kAll);

  // Starts the lines of these clusters; repeat after each step added to the trace.
  void begin(const std::vector<std::uint32_t>& clusters);
  void hold(LineId line, std::uint32_t steps);  // completes at most `steps` steps
  void run();
  void wake(LineId line);

  // Steps that began since this was cleared, in a possible order.
  std::vector<std::pair<LineId, std::uint32_t>> begun;
  std::uint32_t taken(LineId line) const { return taken_[line]; }  // steps that have begun
  std::uint32_t level(LineId line) const { return pushed_[line] - taken_[line]; }
  std::uint64_t given(std::uint32_t event) const { return given_[event]; }

 private:
  bool may_begin(LineId line);
  void complete(LineId line);
  void advance(LineId line);

  const Trace& trace_;
  Queues queues_;
  Tokens tokens_;
  LineId held_ = kNone;
  std::uint32_t held_at_ = 0;
  std::vector<std::uint32_t> taken_, done_, pushed_;  // of each line
  std::vector<std::uint64_t> given_;                  // of each event
  std::vector<LineId> waiting_, next_waiting_;  // first waiting line of each event; next waiting line of each line
  std::vector<char> waits_, queued_, full_;     // of each line; full: the processor waits for space
  std::vector<LineId> work_;
};

}  // namespace attnvp::schedule::check
