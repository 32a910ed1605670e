// Energy of a decoding step under a limit of power.
#pragma once

namespace attnvp::validate {

struct StepEnergy {
  double seconds = 0, joules = 0;
};

// A step that takes `active_j` besides `standing_w` for `seconds`. A GPU at its limit lowers its clock until the step's
// mean power is `limit_w` (0: none).
StepEnergy limited_step(double active_j, double standing_w, double seconds, double limit_w);

}  // namespace attnvp::validate
