#include "explore/validate/limited_power.h"

#include "platform/machine/energy/machine_model.h"

namespace attnvp::validate {

KernelSums sums_of(const job::RunResult& result) {
  constexpr double kPicojoule = 1e-12;
  KernelSums sums;
  sums.seconds = result.seconds();
  for (const job::CounterValue& c : result.counters) {
    if (c.component.empty()) continue;
    const bool stands = energy::stands_for_time(c.component, c.action) || c.component == energy::kClock;
    (stands ? sums.standing_j : sums.active_j).add(kPicojoule, {c.energy_pj, c.low_pj, c.high_pj});
  }
  return sums;
}

StepEnergy limited_step(double active_j, double standing_w, double seconds, double limit_w) {
  const double joules = active_j + standing_w * seconds;
  if (limit_w == 0 || joules <= limit_w * seconds || standing_w >= limit_w) return {seconds, joules};
  const double longer = active_j / (limit_w - standing_w);
  return {longer, limit_w * longer};
}

}  // namespace attnvp::validate
