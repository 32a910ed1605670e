// What `run` and `compare` begin and end alike.
#pragma once

#include "cli/commands.h"
#include "explore/tuning/tuner.h"
#include "models/machine.h"
#include "platform/job/job.h"

namespace attnvp::cli {

struct Prepared {
  MachineConfig machine;
  config::Network network;
  config::EnergyTable energy;
  job::Tiling tiling;
  bool full = true;
};
Prepared prepare(const RunArguments& arguments);

// What the command line asks of the tuner.
explore::TuningOptions tuning_options(const RunArguments& arguments);

// `run` where the network is a whole layer or model.
int run_layer(const RunArguments& arguments, const Prepared& prepared);

// `run` where the job has some of the clusters, and others run beside it.
int run_side_by_side(const RunArguments& arguments, const Prepared& prepared);

// 1 when the golden check failed, which it says on stderr.
int exit_status(const job::Result& result);

}  // namespace attnvp::cli
