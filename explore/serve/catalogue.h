// Choices of the page: machines, networks, dataflows, and the keys of a machine with their values and ranges.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "explore/serve/state.h"

namespace attnvp::explore {

// {hardware, networks, dataflows, local, types}: lists of {name, description}.
nlohmann::ordered_json catalogue_json();

// {keys: [{path, type, unit, value, text, minimum, maximum, power_of_two, names, meaning, group}], others}: keys of the
// state's machine. `keys` has those with controls; `others` all other paths.
nlohmann::ordered_json machine_json(const ServerState& state);

}  // namespace attnvp::explore
