// While one is alive, SIGINT (Ctrl-C) and SIGTERM are remembered in place of ending the program; a second one ends it.
#pragma once

#include <csignal>

namespace attnvp::cli {

inline constexpr int kInterruptedStatus = 130;  // as a shell reports SIGINT

class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  static bool happened();

 private:
  struct sigaction before_[2] {};
};

}  // namespace attnvp::cli
