// The options of `attnvp validate`.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace attnvp::cli {

struct ValidateArguments {
  std::string set;                    // one that comes with the program
  std::string data;                   // or a file
  std::string hardware, network;      // empty: the set's own
  std::vector<std::string> settings;  // --set key=value
  std::vector<std::string> keys;      // to fit
  std::string csv, html, markdown;
  std::string json;  // "-" is stdout, alone
};

// `arguments` outlives the parsing, which fills it; sets `status` when the command is chosen.
void add_validate(CLI::App& app, ValidateArguments& arguments, int& status);
void add_calibrate(CLI::App& app, ValidateArguments& arguments, int& status);

}  // namespace attnvp::cli
