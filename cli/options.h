// The options of the commands about sweeps.
#pragma once

#include "cli/explore_commands.h"

namespace CLI {
class App;
}

namespace attnvp::cli {

// Outlives the parsing, which fills it.
class SweepCommands {
 public:
  // sweep, merge, pareto, sensitivity; each sets `status` when it is chosen.
  void add_to(CLI::App& app, int& status);

 private:
  void add_sweep(CLI::App& app, int& status);
  void add_pareto(CLI::App& app, int& status);
  void add_sensitivity(CLI::App& app, int& status);

  SweepArguments sweep_;
  MergeArguments merge_;
  ParetoArguments pareto_;
  SensitivityArguments sensitivity_;
};

}  // namespace attnvp::cli
