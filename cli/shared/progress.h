// Terminal output of a command: text on stdout, a progress line on stderr, and Ctrl-C. The progress line is updated a
// few times a second; there is none if stderr is no terminal.
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
  ~ProgressBar();  // clears the line
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Redirects all progress to this file, as lines "progress DONE TOTAL".
  static void report_to(int file) { reports_ = file; }

  // "[#####.....] 120/400  310/s  0:02 left  note"; total 0: unknown. `skipped` of `done` took no time.
  void update(std::uint64_t done, std::uint64_t total, const std::string& note, std::uint64_t skipped = 0);

 private:
  inline static int reports_ = -1;
  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point start_, last_{};
};

// Progress line for work without known progress: "note  0:03", after one second, by a separate thread.
class Waiting {
 public:
  explicit Waiting(std::string note);
  ~Waiting();                  // clears the line
  void say(std::string note);  // replaces the note
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

inline constexpr int kInterruptedStatus = 130;  // as in shells for SIGINT

// While an object exists, SIGINT (Ctrl-C) and SIGTERM are recorded; a second signal ends the program.
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
