// Command line of attnvp. Each command is a file of cli/commands; its function adds the command to the program. The
// chosen command sets `status`: 0 done and golden check passed, 1 simulated machine, firmware or golden check failed.
// Wrong usage throws config::ConfigError (exit status 2).
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
void add_explain(CLI::App& app, int& status);
void add_list(CLI::App& app, int& status);
void add_merge(CLI::App& app, int& status);
void add_new(CLI::App& app, int& status);
void add_pareto(CLI::App& app, int& status);
void add_profile(CLI::App& app, int& status);
void add_report(CLI::App& app, int& status);
void add_reproduce(CLI::App& app, int& status);
void add_riscv(CLI::App& app, int& status);
void add_run(CLI::App& app, int& status);
void add_schedule(CLI::App& app, int& status);
void add_search(CLI::App& app, int& status);
void add_sensitivity(CLI::App& app, int& status);
void add_serve(CLI::App& app, int& status);
void add_stream(CLI::App& app, int& status);
void add_sweep(CLI::App& app, int& status);
void add_validate(CLI::App& app, int& status);
void add_worker(CLI::App& app, int& status);

// Parses and dispatches. Exceptions become one line on stderr and an exit status. `commands` are in the order of the
// help.
int main(int argc, char** argv, const std::vector<AddCommand>& commands);
// Runs another command line with the same commands.
int main_again(int argc, char** argv);
// The command line that is run, then a null pointer.
std::vector<char*> arguments();

}  // namespace attnvp::cli
