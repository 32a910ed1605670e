// What is known of a tiling without simulating it. A search need not simulate a tiling whose bound is no better than
// what it has, and says how far its result is from the least bound of all tilings.
#pragma once

#include "explore/search/space.h"

namespace attnvp::explore {

class Bound {
 public:
  explicit Bound(const Problem& problem);

  // Firmware takes it, and it fits into L1 and L0: a simulation will not be refused.
  bool fits(const job::Tiling& tiling) const;
  // No run takes fewer (mapping/bound.h); whole, and the same for tilings that differ only within their commands.
  double cycles(const job::Tiling& tiling) const;
  // What a run takes, roughly: a few percent, where L1's ports or long streams matter more (mapping/estimate.h).
  double estimate(const job::Tiling& tiling) const;
  // What no run takes less than: the command stream's counts (mapping/counter.h) are a run's; of what costs energy by
  // the cycle, the least cycles' worth.
  double energy_pj(const job::Tiling& tiling) const;

 private:
  mapping::Job job(const job::Tiling& tiling) const;
  const Problem& problem_;
  config::EnergyTable energy_;
  double standing_pj_ = 0;  // by the cycle
};

}  // namespace attnvp::explore
