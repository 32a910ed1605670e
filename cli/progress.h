// One line on a terminal's stderr, rewritten a few times a second; nothing where stderr is no terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace attnvp::cli {

class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();  // wipes the line
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // From now on all bars are lines "progress DONE TOTAL" for this file, wherever stderr goes.
  static void report_to(int file) { reports_ = file; }

  // "[#####.....] 120/400  310/s  0:02 left  note"; a total of 0 is not known. `skipped` of `done` took no time.
  void update(std::uint64_t done, std::uint64_t total, const std::string& note, std::uint64_t skipped = 0);

 private:
  using Clock = std::chrono::steady_clock;
  inline static int reports_ = -1;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point start_, last_{};
};

}  // namespace attnvp::cli
