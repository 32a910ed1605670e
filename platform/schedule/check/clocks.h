// What must have been completed before a step can begin, whatever takes how long: of each other queue, so many of its
// steps. A queue is held at every step in turn; what goes on all the same needs no more of it than that.
#pragma once

#include <cstdint>
#include <vector>

#include "platform/schedule/check/trace.h"

namespace attnvp::schedule::check {

class Clocks {
 public:
  explicit Clocks(const Trace& trace, Tokens tokens = Tokens::kAll);
  // Whether `step` of `line` begins after step `other_step` of `other` was completed, on every run.
  bool after(LineId line, std::uint32_t step, LineId other, std::uint32_t other_step) const {
    const std::uint32_t column = column_[std::size_t{line} * lines_ + other];
    return column != kNone && clock_[line][std::size_t{step} * columns_[line] + column] > other_step;
  }

 private:
  void sweep(const Trace& trace, const std::vector<std::uint32_t>& clusters, LineId held, Tokens tokens);

  std::size_t lines_;
  std::vector<std::uint32_t> column_;              // of a line's clock: which is another line's
  std::vector<std::uint32_t> columns_;             // of each line
  std::vector<std::vector<std::uint32_t>> clock_;  // of each line: step after step
};

}  // namespace attnvp::schedule::check
