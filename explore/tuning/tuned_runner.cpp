#include "explore/tuning/tuned_runner.h"

#include <fmt/format.h>

namespace attnvp::explore {

job::Schedule TunedRunner::complete(const workload::Workload& network, const job::Schedule& schedule) {
  const std::string key =
      fmt::format("{} {} {} {}", network.name(), network.identity(), schedule.text, job::tiling_line(schedule.tiling));
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  return known_[key] = tune(machine_, network, schedule, energy_, options_);
}

}  // namespace attnvp::explore
