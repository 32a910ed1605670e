// All schedules of a whole layer.
#pragma once

#include <fmt/format.h>

#include <vector>

#include "firmware/runtime/dataflow.h"
#include "platform/run/schedule.h"

namespace attnvp::runs {

// One schedule for every dataflow and value of its options.
inline std::vector<job::Schedule> all_schedules() {
  std::vector<job::Schedule> all;
  for (const firmware::Dataflow* d : firmware::dataflows()) {
    if (d->is(firmware::kOnlyChain) || d->is(firmware::kOneStep)) continue;
    all.push_back(job::parse_dataflow(d->name));
    for (const firmware::DataflowOption* o = d->options; o != nullptr && o->name != nullptr; ++o) {
      for (const char* const* v = o->values + 1; *v != nullptr; ++v) {
        all.push_back(job::parse_dataflow(fmt::format("{}:{}={}", d->name, o->name, *v)));
      }
    }
  }
  return all;
}

}  // namespace attnvp::runs
