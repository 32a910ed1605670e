// A quick search: from the choice that a run makes by itself on, one parameter after the other takes the next value of
// the space as long as the simulation gets faster. No bound is computed, so that nothing is proved.
#pragma once

#include "explore/search/space.h"

namespace attnvp::explore {

struct Descent {
  job::Result best;  // by cycles; never slower than the choice
  std::uint32_t simulations = 0;
};

// At most `budget` simulations, the first one of `from`; what the problem's tiling gives stays. `runner` is of the
// problem's machine. Throws job::RunError.
Descent descend(job::Runner& runner, const Problem& problem, const job::Schedule& from, std::uint32_t budget);

}  // namespace attnvp::explore
