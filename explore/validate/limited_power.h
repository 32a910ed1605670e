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

// One or more kernels: time, energy by what they do, and energy by the time.
struct KernelEnergy {
  double seconds = 0;
  Ranged active_j, standing_j;
};
KernelEnergy energy_of(const job::RunResult& result);

struct LimitedEnergy {
  double seconds = 0, joules = 0;
};

// Work of `seconds` that takes `active_j` besides `standing_w`. At its limit the GPU lowers its clock until the mean
// power is `limit_w` (0: none).
LimitedEnergy limited(double active_j, double standing_w, double seconds, double limit_w);

}  // namespace attnvp::validate
