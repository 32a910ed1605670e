// State of the page of `attnvp serve`: one job, as JSON, as the query of a URL, as YAML, and as a command. All four
// forms hold the same values. The YAML form is a sweep file (explore/sweep) with one job. Access decides which files a
// state may name.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace attnvp::explore {

struct ServerState {
  std::string hardware = "edge", network = "bert-base", dataflow = "mas";
  std::string tiling;                                         // as for --tiling; empty: chosen
  std::vector<std::pair<std::string, std::string>> settings;  // of the machine, in the order of --set

  bool operator==(const ServerState&) const = default;
  std::vector<std::string> overrides() const;  // "l1.size=2 MiB"
};

// Each throws config::ConfigError for unknown members, wrong types, duplicates, and texts that are too long or not
// printable. Names and values are checked by check_access() and when the job is loaded.
ServerState state_of_json(const nlohmann::ordered_json& json);
ServerState state_of_query(const std::string& query);  // "hw=edge&net=bert-base&dataflow=mas&set=l1.size%3D2%20MiB"
ServerState state_of_yaml(const std::string& text);

nlohmann::ordered_json to_json(const ServerState& state);
std::string to_query(const ServerState& state);
std::string to_yaml(const ServerState& state);
// "attnvp run --hw edge ... --data timing", or the same job for `explain`.
std::string to_command(const ServerState& state, const std::string& command = "run");

// Files that the server may use: configurations, and files in the working folder. A state names machines, networks and
// values of keys, so all of these are checked before anything is read.

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

// Choices of the page: machines, networks, dataflows, and the keys of a machine with their values and ranges.

// {hardware, networks, dataflows, local, types}: lists of {name, description}.
nlohmann::ordered_json catalogue_json();

// {keys: [{path, type, unit, value, text, minimum, maximum, power_of_two, names, meaning, group}], others}: keys of the
// state's machine. `keys` has those with controls; `others` all other paths.
nlohmann::ordered_json machine_json(const ServerState& state);

}  // namespace attnvp::explore
