// Where in a dataflow's source a finding's commands come from, where firmware is code of this very program with debug
// information: it runs once more, and says by its return addresses who pushes what.
#pragma once

#include "mapping/check/checker.h"

namespace attnvp::mapping::check {

void name_sources(Report& report, const Job& job, const MachineConfig& machine);

}  // namespace attnvp::mapping::check
