// How much a choice has done and may do, counted and not timed, so that equal choices come out equal on any machine.
// The unit is what it takes to record a command (recording.h): 0.16 microseconds where this was measured, on 140
// machines and layers at random.
#pragma once

#include <cstdint>
#include <limits>

namespace attnvp::mapping {

class Effort {
 public:
  static constexpr double kOfAHappening = 0.45;  // of a replay
  static constexpr double kOfASimulated = 22;    // command: 3.6 microseconds
  // A program that begins, simulates so many and ends: 45 milliseconds without them,
  static double of_a_program(double commands) { return 280'000 + kOfASimulated * commands; }
  // and the machine that it makes: 1.5 milliseconds a cluster, 1.1 a core.
  static double of_a_machine(double clusters, double cores_of_each) {
    return clusters * (9'400 + 6'900 * cores_of_each);
  }

  void add(double effort) { spent_ += effort; }
  double spent() const { return spent_; }
  // Endless, unless something is allowed. Once it is over nothing new is looked at.
  void allow(double most) { most_ = most; }
  double left() const { return most_ - spent_; }
  bool over() const { return spent_ >= most_; }

 private:
  double spent_ = 0, most_ = std::numeric_limits<double>::infinity();
};

}  // namespace attnvp::mapping
