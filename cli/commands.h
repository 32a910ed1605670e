// Command line of attnvp. Each command is a file of cli/commands; its function adds the command to the program. The
// chosen command sets `status`: 0 done and golden check passed, 1 simulated machine, firmware or golden check failed.
// Wrong usage throws config::ConfigError (exit status 2).
#pragma once

#include <cstdint>
#include <string>
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

// Man page in roff and shell completion to source, generated from the command line's description.
std::string man_page(const CLI::App& app);
std::string bash_completion(const CLI::App& app);

// Measurements of `attnvp bench`, and comparison with another build.

struct BenchFigure {
  std::string label;
  double seconds = 0;  // 0: not a time
  std::string time;    // as shown, or a text in its place
  std::string rate;
};
using Figures = std::vector<BenchFigure>;

// Parses a table printed by `bench`.
Figures parse_figures(const std::string& table);
// The better of each pair of figures.
Figures better(const Figures& a, const Figures& b);

// Body of `attnvp serve`. It is a program of its own, attnvp-serve, because the libraries of a web server would
// lengthen the start of every other command. attnvp replaces itself by that program (cli/commands/serve.cpp), which has
// the same commands and runs the server (server.cpp).

struct ServeArguments {
  std::uint64_t port = 0;
  std::string host = "127.0.0.1";
  std::uint64_t jobs = 0;    // simulator processes; 0: one per processor
  std::uint64_t limit = 60;  // longest simulation of a request, in seconds
  bool no_cache = false;
};

// Returns the exit status. Throws config::ConfigError.
int serve(const ServeArguments& a);

}  // namespace attnvp::cli
