// Random machines and layers, each with the next dataflow.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "platform/machine/hardware.h"
#include "platform/run/job.h"
#include "tests/platform/random_jobs.h"
#include "tests/support/all_schedules.h"

namespace attnvp {

// `complete` makes the schedule of a machine, a network and a dataflow; `visit` gets number, machine, network and
// schedule. Dataflows that refuse the layer are skipped.
template <class Complete, class Visit>
void each_random_schedule(std::uint32_t count, std::uint32_t seed, const Complete& complete, const Visit& visit) {
  const std::vector<job::Schedule> schedules = runs::all_schedules();
  for (std::uint32_t i = 0; i < count; ++i) {
    runs::Random r(i * 2654435761U + seed);
    const MachineConfig machine = runs::random_machine(r);
    const workload::Attention network = runs::random_network(r);
    config::check_machine(machine, {"random"});
    try {
      visit(i, machine, network, complete(machine, network, schedules[i % schedules.size()]));
    } catch (const std::runtime_error&) {
    }
  }
}

}  // namespace attnvp
