// The commands of explore/ behind the command line. Exit status and exceptions as in platform/cli/commands.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attnvp::cli {

struct SearchArguments {
  std::string hardware = "edge";
  std::string network = "bert-base";
  std::string dataflow = "mas";
  std::vector<std::string> settings;  // --set key=value
  std::string objective = "cycles";   // energy, edp
  std::string strategy = "ga";        // grid, mcts
  std::uint64_t budget = 0;           // simulations; 0: all that the strategy wants (grid), 400 (ga, mcts)
  std::uint64_t seed = 1;
  std::string csv, svg;  // convergence
  std::string save;      // the best tiling, as --tiling reads it
  std::string json;      // "-" is stdout, alone
};
int search(const SearchArguments& arguments);

}  // namespace attnvp::cli
