// Source lines of a finding's commands, from the debug information of this program or of the firmware's ELF file. The
// firmware runs again, and its return addresses identify each push.
#pragma once

#include "platform/schedule/check/checker.h"

namespace attnvp::schedule::check {

void name_sources(Report& report, const Job& job, const MachineConfig& machine);

}  // namespace attnvp::schedule::check
