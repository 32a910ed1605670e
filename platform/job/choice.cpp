// Schedules made complete: by the choice of their tiles (mapping/choose.h), or of a dataflow's ways (ways.h).
#include <fmt/format.h>

#include "mapping/bound.h"
#include "mapping/choose.h"
#include "mapping/programs.h"
#include "platform/job/ways.h"

namespace attnvp::job {

namespace {

// The schedule as it was chosen, or why there is none.
Choice chosen(const MachineConfig& machine, const config::Network& network, const Schedule& schedule,
              const mapping::Choice& choice) {
  const firmware::Dataflow& dataflow = *mapping::find_dataflow(schedule.dataflow);
  if (!choice.fits) {
    hal::JobResult why = choice.refusal;
    if (why.status == hal::Status::kDone && choice.l1_bytes <= machine.l1.size_bytes) {
      throw RunError(fmt::format("{} on {} with {}: its commands wait for ever, whatever its tiles are", network.name,
                                 machine.name, schedule.text));
    }
    if (why.status == hal::Status::kDone) {
      why.status = hal::Status::kL1TooSmall;
      why.detail[0] = choice.l1_bytes;
      why.detail[1] = machine.l1.size_bytes;
    }
    const std::string sentence = fmt::format("{} on {} with {}: cluster 0's firmware: {}", network.name, machine.name,
                                             schedule.text, refusal(why, dataflow));
    if (why.status == hal::Status::kBadTiling) throw TilingError(sentence);
    throw RunError(sentence);
  }
  Choice all{schedule, choice.cycles, choice.commands * machine.clusters, choice.digest};
  all.schedule.tiling = tiling_of(choice.words, dataflow);
  return all;
}

}  // namespace

Choice choose_tiles(const MachineConfig& machine, const config::Network& network, const Schedule& schedule) {
  const firmware::Dataflow& dataflow = *mapping::find_dataflow(schedule.dataflow);
  return chosen(machine, network, schedule, mapping::choose(make_job(machine, network, schedule), dataflow, machine));
}

Choice look_at_tiles(const MachineConfig& machine, const config::Network& network, const Schedule& schedule) {
  const firmware::Dataflow& dataflow = *mapping::find_dataflow(schedule.dataflow);
  return chosen(machine, network, schedule, mapping::look(make_job(machine, network, schedule), dataflow, machine));
}

double least_cycles(const MachineConfig& machine, const config::Network& network, const Schedule& schedule) {
  return mapping::layer_demand(make_job(machine, network, schedule), machine).cycles();
}

Schedule complete(const MachineConfig& machine, const config::Network& network, const Schedule& schedule) {
  if (open_ways(schedule) != nullptr) return best_way(machine, network, schedule);
  return choose_tiles(machine, network, schedule).schedule;
}

Schedule look(const MachineConfig& machine, const config::Network& network, const Schedule& schedule) {
  if (open_ways(schedule) != nullptr) return likeliest_way(machine, network, schedule);
  return look_at_tiles(machine, network, schedule).schedule;
}

}  // namespace attnvp::job
