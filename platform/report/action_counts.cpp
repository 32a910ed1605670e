#include "platform/report/action_counts.h"

#include <fmt/format.h>

#include <map>

namespace attnvp::report {

std::string action_counts_yaml(const job::RunResult& result) {
  // Grouped by components of the energy table, so that an ERT of the machine has them; in module-tree order.
  // Accelergy's calculator finds no energy for arguments that are an empty map.
  std::vector<std::string> components;
  std::map<std::string, std::map<std::string, std::uint64_t>> counts;
  for (const job::CounterValue& c : result.counters) {
    if (c.component.empty()) continue;
    if (counts.count(c.component) == 0) components.push_back(c.component);
    counts[c.component][c.action] += c.value;
  }
  std::string out = "action_counts:\n  version: 0.4\n  local:\n";
  for (const std::string& component : components) {
    out += fmt::format("    - name: {}\n      action_counts:\n", component);
    for (const auto& [action, count] : counts[component]) {
      out += fmt::format("        - {{name: {}, counts: {}}}\n", action, count);
    }
  }
  return out;
}

}  // namespace attnvp::report
