// What `schedule` and `check` look at: a job on its machine, whose tile sizes are yet to be chosen.
#pragma once

#include "cli/commands.h"
#include "models/machine.h"
#include "platform/config/network.h"
#include "platform/job/schedule.h"

namespace attnvp::cli {

struct Chosen {
  MachineConfig machine;
  config::Network network;
  job::Schedule schedule;
};
Chosen read_job(const ScheduleArguments& arguments);

}  // namespace attnvp::cli
