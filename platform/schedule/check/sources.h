// Where in a dataflow's source a finding's commands come from, as far as there is debug information, of this very
// program or of the ELF file that firmware is: it runs once more, and says by its return addresses who pushes what.
#pragma once

#include "platform/schedule/check/checker.h"

namespace attnvp::schedule::check {

void name_sources(Report& report, const Job& job, const MachineConfig& machine);

}  // namespace attnvp::schedule::check
