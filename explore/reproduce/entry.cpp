#include "explore/reproduce/entry.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "explore/reproduce/csv.h"

namespace attnvp::reproduce {

nlohmann::ordered_json entries_json(const std::vector<Entry>& entries) {
  nlohmann::ordered_json j = nlohmann::ordered_json::array();
  for (const Entry& e : entries) {
    j.push_back(
        {{"quantity", e.quantity},
         {"network", e.network},
         {"dataflow", e.dataflow},
         {"paper", e.paper},
         {"ours", e.ours},
         {"ratio", e.ratio()},
         {"why", e.why},
         {"schedule", e.schedule.empty() ? e.dataflow : e.schedule},
         {"calibrated", e.calibrated.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(e.calibrated)}});
  }
  return j;
}

std::string entries_csv(const std::vector<Entry>& entries) {
  std::string out = "quantity,network,dataflow,paper,ours,ratio,why,schedule,calibrated\n";
  for (const Entry& e : entries) {
    out +=
        fmt::format("{},{},{},{},{},{:.6f},{},{},{}\n", e.quantity, e.network, csv_cell(e.dataflow), e.paper, e.ours,
                    e.ratio(), csv_cell(e.why), csv_cell(e.schedule.empty() ? e.dataflow : e.schedule), e.calibrated);
  }
  return out;
}

}  // namespace attnvp::reproduce
