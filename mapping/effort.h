// How much a choice has done and may do, counted and not timed, so that equal choices come out equal on any machine.
// The unit is what it takes to record a command (recording.h) of a layer without a mask: 0.09 microseconds, and with
// all that a choice does besides 0.11, where this was measured, on the 300 machines and layers of docs/auto.md. Hosts
// differ: of a former build a program took 27 milliseconds on one and 45 on another, a recorded command 0.16 on both.
#pragma once

#include <cstdint>
#include <limits>

namespace attnvp::mapping {

class Effort {
 public:
  // So many commands of a cluster: a microsecond to begin with, and under a mask, of which firmware looks at each row
  // block, half as much again.
  static double of_a_recording(double commands, bool masked) { return (masked ? 1.5 : 1) * (12 + commands); }
  // What happens in a replay: 29 nanoseconds, 3 more for each core that has a part of L1, and some for others' bursts.
  static double of_happenings(double count, double cores_of_each) { return (0.33 + 0.04 * cores_of_each) * count; }
  static double of_simulated(double commands) { return 16 * commands; }  // 1.4 microseconds each
  // A program that begins, simulates so many and ends: 18 milliseconds without them,
  static double of_a_program(double commands) { return 165'000 + of_simulated(commands); }
  // and the machine that it makes: 0.59 milliseconds a cluster and 0.37 a core.
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
