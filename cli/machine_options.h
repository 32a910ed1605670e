// Options that several commands have.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/commands.h"

namespace attnvp::cli {

void add_machine_options(CLI::App& command, RunArguments& arguments);
// How tile sizes are chosen that are not given.
void add_tuning_options(CLI::App& app, std::uint64_t& budget, bool& no_cache);

void add_memory_limit(CLI::App& command);
void add_cycle_limit(CLI::App& command, std::uint64_t& most, const std::string& otherwise);  // the default, in words
void add_energy_range(CLI::App& command, RunArguments& arguments);

}  // namespace attnvp::cli
