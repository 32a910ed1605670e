// The command line: each function adds a command (some: several) with its options to the program; `status` is set by
// the one that is chosen.
#pragma once

#include <vector>

namespace CLI {
class App;
}

namespace attnvp::cli {

using AddCommands = void (*)(CLI::App& app, int& status);

void add_bench(CLI::App& app, int& status);
void add_cache(CLI::App& app, int& status);
void add_calibrate(CLI::App& app, int& status);
void add_check(CLI::App& app, int& status);
void add_compare(CLI::App& app, int& status);
void add_describe(CLI::App& app, int& status);
void add_list(CLI::App& app, int& status);
void add_new(CLI::App& app, int& status);
void add_report(CLI::App& app, int& status);
void add_reproduce(CLI::App& app, int& status);
void add_riscv(CLI::App& app, int& status);
void add_run(CLI::App& app, int& status);
void add_schedule(CLI::App& app, int& status);
void add_search(CLI::App& app, int& status);
void add_stream(CLI::App& app, int& status);
void add_sweeps(CLI::App& app, int& status);  // sweep, merge, pareto, sensitivity
void add_validate(CLI::App& app, int& status);

// Parses and dispatches; turns every exception into one sentence on stderr and an exit status. `commands` are in the
// order of the help.
int main(int argc, char** argv, const std::vector<AddCommands>& commands);

// Those of this program.
const std::vector<AddCommands>& commands();

}  // namespace attnvp::cli
