#include "platform/job/counters.h"

#include "models/module.h"

namespace attnvp::job {

std::string part_of(const std::string& component) {
  static const std::string kOurs = "attnvp.";
  return component.compare(0, kOurs.size(), kOurs) == 0 ? component.substr(kOurs.size()) : component;
}

std::vector<CounterValue> read_counters(sc_core::sc_object& root, const config::EnergyTable& energy) {
  std::vector<CounterValue> values;
  for_each_module(root, [&](Module& module) {
    for (const Counter* counter : module.counters()) {
      CounterValue value{
          module.name(), counter->name(), counter->unit(), counter->description(), counter->value(), 0, {}, {}};
      if (counter->action().component != nullptr) {
        value.component = counter->action().component;
        value.action = counter->action().name;
        // A table need only have what happens.
        if (counter->value() > 0) {
          value.energy_pj = static_cast<double>(counter->value()) *
                            energy.pj(counter->action().component, counter->action().name, module.size_bytes());
        }
      }
      values.push_back(std::move(value));
    }
  });
  return values;
}

}  // namespace attnvp::job
