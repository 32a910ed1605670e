// The command line of `attnvp describe`.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/commands.h"

namespace attnvp::cli {

void add_describe(CLI::App& app, DescribeArguments& arguments, int& status);

}  // namespace attnvp::cli
