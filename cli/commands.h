// The command line: a command is a file of cli/commands with its options and what it does. Each function adds one to
// the program; `status` is set by the one that is chosen: 0 done and golden passed, 1 the simulated machine or firmware
// failed or the golden check did. Wrong usage throws config::ConfigError (exit status 2).
#pragma once

#include <vector>

namespace CLI {
class App;
}

namespace attnvp::cli {

using AddCommand = void (*)(CLI::App& app, int& status);

void add_bench(CLI::App& app, int& status);
void add_cache(CLI::App& app, int& status);
void add_calibrate(CLI::App& app, int& status);
void add_check(CLI::App& app, int& status);
void add_compare(CLI::App& app, int& status);
void add_describe(CLI::App& app, int& status);
void add_list(CLI::App& app, int& status);
void add_merge(CLI::App& app, int& status);
void add_new(CLI::App& app, int& status);
void add_pareto(CLI::App& app, int& status);
void add_report(CLI::App& app, int& status);
void add_reproduce(CLI::App& app, int& status);
void add_riscv(CLI::App& app, int& status);
void add_run(CLI::App& app, int& status);
void add_schedule(CLI::App& app, int& status);
void add_search(CLI::App& app, int& status);
void add_sensitivity(CLI::App& app, int& status);
void add_stream(CLI::App& app, int& status);
void add_sweep(CLI::App& app, int& status);
void add_validate(CLI::App& app, int& status);
void add_worker(CLI::App& app, int& status);

// Parses and dispatches; turns every exception into one sentence on stderr and an exit status. `commands` are in the
// order of the help.
int main(int argc, char** argv, const std::vector<AddCommand>& commands);
// Another command line with the same commands.
int main_again(int argc, char** argv);

}  // namespace attnvp::cli
