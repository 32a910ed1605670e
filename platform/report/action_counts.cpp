#include "platform/report/action_counts.h"

#include <fmt/format.h>

#include <map>

namespace attnvp::report {

std::string action_counts_yaml(const job::Result& result) {
  // In the module tree's order; several counters of one module may stand for the same action.
  std::vector<std::string> modules;
  std::map<std::string, std::map<std::string, std::uint64_t>> counts;
  for (const job::CounterValue& c : result.counters) {
    if (c.component.empty()) continue;
    if (counts.count(c.module) == 0) modules.push_back(c.module);
    counts[c.module][c.action] += c.value;
  }
  std::string out = "action_counts:\n  version: 0.4\n  local:\n";
  for (const std::string& module : modules) {
    out += fmt::format("    - name: {}\n      action_counts:\n", module);
    for (const auto& [action, count] : counts[module]) {
      out += fmt::format("        - {{name: {}, arguments: {{}}, counts: {}}}\n", action, count);
    }
  }
  return out;
}

}  // namespace attnvp::report
