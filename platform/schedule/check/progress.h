// Order of the steps of a trace: an engine that advances lines in a possible order, and the order that holds for all
// timings.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "platform/schedule/check/trace.h"

namespace attnvp::schedule::check {

// Progress engine: advances lines as far as tokens, the processor and, optionally, queue depths allow. As every event
// has one taker, the result does not depend on the order of execution.
// One line can be held: it gives no tokens beyond a step, so that steps that still proceed do not depend on it.
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

// Happens-before relation of steps, as vector clocks that hold for all timings: for each step, the steps of each other
// queue that must have completed before it begins. Each queue is held at each step in turn; steps that still proceed do
// not depend on it.
class Clocks {
 public:
  explicit Clocks(const Trace& trace, Tokens tokens = Tokens::kAll);
  // Whether `step` of `line` always begins after step `other_step` of `other` has completed.
  bool after(LineId line, std::uint32_t step, LineId other, std::uint32_t other_step) const {
    const std::uint32_t column = column_[std::size_t{line} * lines_ + other];
    return column != kNone && clock_[line][std::size_t{step} * columns_[line] + column] > other_step;
  }

 private:
  void sweep(const Trace& trace, const std::vector<std::uint32_t>& clusters, LineId held, Tokens tokens);

  std::size_t lines_;
  std::vector<std::uint32_t> column_;              // line -> column in another line's clock
  std::vector<std::uint32_t> columns_;             // number of columns of each line
  std::vector<std::vector<std::uint32_t>> clock_;  // clock of each line, step by step
};

}  // namespace attnvp::schedule::check
