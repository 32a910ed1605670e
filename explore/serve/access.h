// Files that the server may use: configurations, and files in the working folder. A state names machines, networks and
// values of keys, so all of these are checked before anything is read.
#pragma once

#include <string>
#include <vector>

#include "explore/serve/state.h"

namespace attnvp::explore {

// Throws config::ConfigError for a path outside the working folder, and for keys and files that load further files:
// plug-ins, firmware, biases, block masks and models.
void check_access(const ServerState& state);
// Value of one machine key, for axes of a sweep.
void check_setting_access(const std::string& key, const std::string& value);

// Machine files of the working folder: names of *.yaml files that define a machine, at most a hundred.
std::vector<std::string> local_machines();

// Path of a new output in the working folder. `name`: letters, digits, '.', '_' and '-', without an ending. Throws
// config::ConfigError for other names and for symbolic links.
std::string output_path(const std::string& name, const std::string& ending);

}  // namespace attnvp::explore
