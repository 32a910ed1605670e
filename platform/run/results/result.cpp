// Aggregates of a result's counters.
#include <algorithm>

#include "platform/run/job.h"

namespace attnvp::job {

namespace {

bool ends_with_module(std::string_view name, std::string_view module) {
  return name.size() > module.size() && name.substr(name.size() - module.size()) == module &&
         name[name.size() - module.size() - 1] == '.';
}

void add_new(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

}  // namespace

double Floorplan::total_mm2() const {
  double total = spare_mm2;
  for (const auto& part : parts) total += part.second;
  return total;
}

std::uint64_t RunResult::sum(std::string_view module, std::string_view counter) const {
  std::uint64_t total = 0;
  for (const CounterValue& c : counters) {
    if (c.name == counter && ends_with_module(c.module, module)) total += c.value;
  }
  return total;
}

std::uint64_t RunResult::max(std::string_view module, std::string_view counter) const {
  std::uint64_t most = 0;
  for (const CounterValue& c : counters) {
    if (c.name == counter && ends_with_module(c.module, module)) most = std::max(most, c.value);
  }
  return most;
}

std::uint64_t RunResult::statistic(std::string_view name) const {
  for (const auto& [known, value] : statistics) {
    if (known == name) return value;
  }
  return 0;
}

bool RunResult::has(std::string_view module, std::string_view counter) const {
  return std::any_of(counters.begin(), counters.end(),
                     [&](const CounterValue& c) { return c.name == counter && ends_with_module(c.module, module); });
}

std::vector<std::string> RunResult::memories() const {
  std::vector<std::string> names;
  for (const CounterValue& c : counters) {
    if (c.name == "read_words") add_new(names, c.module.substr(c.module.rfind('.') + 1));
  }
  return names;
}

std::vector<std::string> RunResult::energy_parts() const {
  std::vector<std::string> parts;
  for (const CounterValue& c : counters) {
    if (!c.component.empty()) add_new(parts, part_of(c.component));
  }
  // Parts without computation come last.
  for (const char* part : {"network", "events", "dma", "control", "gating", "clock", "leakage"}) {
    const auto found = std::find(parts.begin(), parts.end(), part);
    if (found != parts.end()) std::rotate(found, found + 1, parts.end());
  }
  return parts;
}

double RunResult::energy_pj(std::string_view part) const {
  double total = 0;
  for (const CounterValue& c : counters) {
    if (!c.component.empty() && part_of(c.component) == part) total += c.energy_pj;
  }
  return total;
}

double RunResult::total_energy_pj() const {
  double total = 0;
  for (const CounterValue& c : counters) total += c.energy_pj;
  return total;
}

}  // namespace attnvp::job
