// State of the page of `attnvp serve`: one job, as JSON, as the query of a URL, as YAML, and as a command. All four
// forms hold the same values. The YAML form is a sweep file (explore/sweep/sweep_file.h) with one job.
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
// printable. Names and values are checked by check_access() (access.h) and when the job is loaded.
ServerState state_of_json(const nlohmann::ordered_json& json);
ServerState state_of_query(const std::string& query);  // "hw=edge&net=bert-base&dataflow=mas&set=l1.size%3D2%20MiB"
ServerState state_of_yaml(const std::string& text);

nlohmann::ordered_json to_json(const ServerState& state);
std::string to_query(const ServerState& state);
std::string to_yaml(const ServerState& state);
// "attnvp run --hw edge ... --data timing", or the same job for `explain`.
std::string to_command(const ServerState& state, const std::string& command = "run");

}  // namespace attnvp::explore
