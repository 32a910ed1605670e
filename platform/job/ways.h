// Dataflows that have several ways: a parameter whose values have names (firmware::Parameter::named). Each way is
// chosen for by itself, as the dataflow that makes the same commands is (firmware::NamedValue::same), so that none of
// them comes out slower by the choice of tiles; the nearest are run.
#pragma once

#include <vector>

#include "models/machine.h"
#include "platform/config/network.h"
#include "platform/job/schedule.h"

namespace attnvp::job {

// The parameter that the schedule leaves open and whose values are ways; nullptr: there is none.
const firmware::Parameter* open_ways(const Schedule& schedule);

struct Way {
  Schedule own;   // the schedule with that way, the rest as it is given
  Schedule same;  // the other dataflow's; `own` where there is none, or what is given is not for it
  bool another() const { return same.dataflow != own.dataflow; }
};
std::vector<Way> ways_of(const Schedule& schedule);

// The schedule with what another one, which is complete, has for those parameters that are left open, whichever
// dataflow's that is.
Schedule begun_at(const Schedule& open, const Schedule& found);

Schedule best_way(const MachineConfig& machine, const config::Network& network, const Schedule& schedule);
Schedule likeliest_way(const MachineConfig& machine, const config::Network& network, const Schedule& schedule);

}  // namespace attnvp::job
