// The command lines of `attnvp schedule` and `attnvp check`, which read the same command streams.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/commands.h"

namespace attnvp::cli {

void add_schedule(CLI::App& app, ScheduleArguments& arguments, int& status);
void add_check(CLI::App& app, ScheduleArguments& arguments, int& status);

}  // namespace attnvp::cli
