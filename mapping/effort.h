// How much a choice has done and may do, counted and not timed, so that equal choices come out equal on any machine.
// The unit is 0.09 microseconds where this was measured, on cases 0 to 299 of docs/auto.md. What is looked at
// has what was fitted to the seconds of those choices of the 300 that have up to 16 clusters and take 80 milliseconds
// or more (what a choice does besides is in it; 90% took 0.87 to 1.20 times as long as it says), and a twentieth more,
// so that more of the 300 end within the time of 20 runs. The prices of runs were 0.85 times what was fitted, of 0.85,
// 0.9 and 1 chosen likewise; then simulation, programs and machines came to take 0.56, 0.95 and 0.6 to 0.94 times as
// long (100 of those 300, both builds on one host), and their prices with them. Hosts differ: of a former build a
// program took 27 milliseconds on one and 45 on another, a recorded command 0.16 microseconds on both.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

namespace attnvp::mapping {

class Effort {
 public:
  // Whether a schedule fits (estimate.h, Need): 3 microseconds.
  static constexpr double kOfANeed = 36;
  // So many commands of a cluster: 4.5 microseconds to begin with, and 0.064 each; under a mask, of which firmware
  // looks at each row block, 0.12.
  static double of_a_recording(double commands, bool masked) { return 53 + (masked ? 1.41 : 0.75) * commands; }
  // Of so many happenings: 18 microseconds to begin with, 13 nanoseconds each, and 6 for each core that has a part of
  // L1.
  static double of_a_replay(double happenings, double cores_of_each) {
    return 210 + (0.147 + 0.069 * cores_of_each) * happenings;
  }
  // 1.3 microseconds a command.
  static double of_simulated(double commands) { return 14 * commands; }
  // A program that begins, simulates so many and ends: 17 milliseconds without them,
  static double of_a_program(double commands) { return 187'000 + of_simulated(commands); }
  // and the machine that it makes: 0.7 milliseconds a cluster and 0.25 a core.
  static double of_a_machine(double clusters, double cores_of_each) {
    return clusters * (7'700 + 2'850 * cores_of_each);
  }

  void add(double effort) { spent_ += effort; }
  double spent() const { return spent_; }
  // Endless, unless something is allowed. Once it is over nothing new is looked at.
  void allow(double most) { most_ = most; }
  // Less of it by what is found: so much for the commands of the fastest meanwhile. Nothing: no more of that.
  void allow_by(std::function<double(double commands)> most) {
    most_by_ = std::move(most);
    fastest_ = std::numeric_limits<double>::infinity();
  }
  void found(double cycles, double commands) {
    if (!most_by_ || cycles >= fastest_) return;
    fastest_ = cycles;
    most_ = std::min(most_, most_by_(commands));
  }
  double left() const { return most_ - spent_; }
  bool over() const { return spent_ >= most_; }

 private:
  std::function<double(double)> most_by_;
  double fastest_ = std::numeric_limits<double>::infinity();
  double spent_ = 0, most_ = std::numeric_limits<double>::infinity();
};

}  // namespace attnvp::mapping
