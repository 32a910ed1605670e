// Happens-before relation of steps, as vector clocks that hold for all timings: for each step, the steps of each other
// queue that must have completed before it begins. Each queue is held at each step in turn; steps that still proceed do
// not depend on it.
#pragma once

#include <cstdint>
#include <vector>

#include "platform/schedule/check/trace.h"

namespace attnvp::schedule::check {

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
