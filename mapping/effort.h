// How much a choice has done and may do, counted and not timed, so that equal choices come out equal on any machine.
// The unit is what it takes to record a command (recording.h): 0.16 microseconds on both hosts where this was measured,
// on machines and layers at random. What a program and its simulation take differed by a factor of two and more: a
// program is priced as on the faster one, commands as on the slower one, machines between, which was tried on the 300
// cases of docs/auto.md.
#pragma once

#include <cstdint>
#include <limits>

namespace attnvp::mapping {

class Effort {
 public:
  static constexpr double kOfARecording = 20;    // that begins: 2 to 3 microseconds, with masks up to 28
  static constexpr double kOfAHappening = 0.45;  // of a replay
  static constexpr double kOfASimulated = 22;    // command: 1.7 and 3.6 microseconds
  // A program that begins, simulates so many and ends: 27 milliseconds without them, and 45,
  static double of_a_program(double commands) { return 165'000 + kOfASimulated * commands; }
  // and the machine that it makes: 0.65 milliseconds a cluster and 0.34 a core, and 1.5 and 1.1.
  static double of_a_machine(double clusters, double cores_of_each) {
    return clusters * (4'200 + 3'100 * cores_of_each);
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
