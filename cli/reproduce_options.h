// The options of `attnvp reproduce`.
#pragma once

#include "explore/reproduce/commands.h"

namespace CLI {
class App;
}

namespace attnvp::cli {

// One command a paper. Outlives the parsing, which fills it.
class ReproduceCommands {
 public:
  void add_to(CLI::App& app, int& status);

 private:
  ReproduceArguments mas_;
  ReproduceFusemaxArguments fusemax_;
  ReproduceLeanArguments lean_;
  ReproduceStreamingArguments streaming_;
};

}  // namespace attnvp::cli
