// What a user sees of a command: its text on stdout and, at work, one line on a terminal's stderr, rewritten a few
// times a second (nothing where stderr is no terminal); and Ctrl-C.
#pragma once

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

namespace attnvp::cli {

inline void print(const std::string& text) { std::fputs(text.c_str(), stdout); }

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

// The same for work that cannot say how far it is: from a second on, "note  0:03", by a thread that does nothing else.
class Waiting {
 public:
  explicit Waiting(std::string note);
  ~Waiting();                  // wipes the line
  void say(std::string note);  // from now on
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  void show();

  std::string note_;
  std::mutex mutex_;
  std::condition_variable over_;
  bool done_ = false, shown_ = false;
  std::thread thread_;
};

inline constexpr int kInterruptedStatus = 130;  // as a shell reports SIGINT

// While one is alive, SIGINT (Ctrl-C) and SIGTERM are remembered in place of ending the program; a second one ends it.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  static bool happened();

 private:
  struct sigaction before_[2]{};
};

}  // namespace attnvp::cli
