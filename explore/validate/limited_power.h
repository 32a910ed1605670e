// Energy of kernels under a limit of power: a GPU at its limit lowers its clock.
#pragma once

#include "platform/run/job.h"

namespace attnvp::validate {

// A value with the ends of its range.
struct Ranged {
  double value = 0, low = 0, high = 0;
  void add(double factor, const Ranged& other) {
    value += factor * other.value, low += factor * other.low, high += factor * other.high;
  }
};

// Time, energy by what kernels do, and energy by the time.
struct KernelSums {
  double seconds = 0;
  Ranged active_j, standing_j;
  void add(double times, const KernelSums& other) {
    seconds += times * other.seconds;
    active_j.add(times, other.active_j);
    standing_j.add(times, other.standing_j);
  }
};
KernelSums sums_of(const job::RunResult& result);

struct StepEnergy {
  double seconds = 0, joules = 0;
};

// A step that takes `active_j` besides `standing_w` for `seconds`. A GPU at its limit lowers its clock until the step's
// mean power is `limit_w` (0: none).
StepEnergy limited_step(double active_j, double standing_w, double seconds, double limit_w);

}  // namespace attnvp::validate
