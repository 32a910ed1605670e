// Schedules made complete: by the choice of their tiles (mapping/choose.h), or of a dataflow's ways (ways.h).
#include <fmt/format.h>

#include "mapping/bound.h"
#include "mapping/programs.h"
#include "platform/job/choosing.h"
#include "platform/job/ways.h"

namespace attnvp::job {

Choosing::Choosing(const MachineConfig& machine, const config::Network& network, const Schedule& schedule,
                   mapping::Replays& replays, mapping::Glance glance)
    : machine_(machine),
      network_(network),
      schedule_(schedule),
      chooser_(make_job(machine, network, schedule), *mapping::find_dataflow(schedule.dataflow), replays, glance) {}

Choosing::Choosing(const MachineConfig& machine, const config::Network& network, const Schedule& schedule,
                   mapping::Replays& replays, mapping::Glance glance, const Schedule& from)
    : machine_(machine),
      network_(network),
      schedule_(schedule),
      chooser_(make_job(machine, network, schedule), *mapping::find_dataflow(schedule.dataflow), replays, glance,
               words_of(from.tiling, *mapping::find_dataflow(schedule.dataflow))) {}

void Choosing::begin_from(const Schedule& from) {
  chooser_.begin_from(words_of(from.tiling, *mapping::find_dataflow(schedule_.dataflow)));
}

Choice Choosing::choice() {
  const firmware::Dataflow& dataflow = *mapping::find_dataflow(schedule_.dataflow);
  const mapping::Choice choice = chooser_.choice();
  if (!choice.fits) {
    hal::JobResult why = choice.refusal;
    if (why.status == hal::Status::kDone && choice.l1_bytes <= machine_.l1.size_bytes) {
      throw RunError(fmt::format("{} on {} with {}: its commands wait for ever, whatever its tiles are", network_.name,
                                 machine_.name, schedule_.text));
    }
    if (why.status == hal::Status::kDone) {
      why.status = hal::Status::kL1TooSmall;
      why.detail[0] = choice.l1_bytes;
      why.detail[1] = machine_.l1.size_bytes;
    }
    const std::string sentence = fmt::format("{} on {} with {}: cluster 0's firmware: {}", network_.name, machine_.name,
                                             schedule_.text, refusal(why, dataflow));
    if (why.status == hal::Status::kBadTiling) throw TilingError(sentence);
    throw RunError(sentence);
  }
  Choice all{schedule_, choice.cycles, choice.commands};
  all.schedule.tiling = tiling_of(choice.words, dataflow);
  return all;
}

std::optional<Choice> Choosing::likeliest() {
  const mapping::Choice found = chooser_.likeliest();
  if (!found.fits) return std::nullopt;
  Choice all{schedule_, found.cycles, found.commands};
  all.schedule.tiling = tiling_of(found.words, *mapping::find_dataflow(schedule_.dataflow));
  return all;
}

Choice choose_tiles(const MachineConfig& machine, const config::Network& network, const Schedule& schedule,
                    mapping::Replays& replays) {
  Choosing choosing(machine, network, schedule, replays);
  while (choosing.advance()) {
  }
  return choosing.choice();
}

Choice look_at_tiles(const MachineConfig& machine, const config::Network& network, const Schedule& schedule,
                     mapping::Replays& replays, mapping::Glance glance) {
  return Choosing(machine, network, schedule, replays, glance).choice();
}

double least_cycles(const MachineConfig& machine, const config::Network& network, const Schedule& schedule) {
  return mapping::layer_demand(make_job(machine, network, schedule), machine).cycles();
}

Schedule complete(const MachineConfig& machine, const config::Network& network, const Schedule& schedule) {
  if (open_ways(schedule) != nullptr) return best_way(machine, network, schedule);
  mapping::Replays replays(machine);
  return choose_tiles(machine, network, schedule, replays).schedule;
}

Schedule look(const MachineConfig& machine, const config::Network& network, const Schedule& schedule) {
  if (open_ways(schedule) != nullptr) return likeliest_way(machine, network, schedule);
  mapping::Replays replays(machine);
  return look_at_tiles(machine, network, schedule, replays).schedule;
}

}  // namespace attnvp::job
