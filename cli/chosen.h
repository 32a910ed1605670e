// What `schedule` and `check` look at: a job on its machine, whose tile sizes are yet to be chosen.
#pragma once

#include <nlohmann/json.hpp>

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
// The schedule with its tile sizes chosen.
job::Schedule tuned(const Chosen& asked, const ScheduleArguments& arguments);
// A document with what is looked at, its tile sizes being chosen.
nlohmann::ordered_json document_of(const Chosen& chosen, const ScheduleArguments& arguments);

}  // namespace attnvp::cli
