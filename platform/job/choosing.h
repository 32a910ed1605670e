// The choice of a schedule's tiles (mapping/choose.h), for a dataflow of one way (ways.h): in words of the schedule,
// and where there is none, why.
#pragma once

#include <cstdint>
#include <optional>

#include "mapping/choose.h"
#include "models/machine.h"
#include "platform/config/network.h"
#include "platform/job/schedule.h"

namespace attnvp::job {

// The schedule made complete, with what is estimated of it.
struct Choice {
  Schedule schedule;
  double cycles = 0;    // estimated, where something was open,
  double commands = 0;  //   and of all clusters
};

// Part by part. What is given to it outlives it.
class Choosing {
 public:
  Choosing(const MachineConfig& machine, const config::Network& network, const Schedule& schedule,
           mapping::Replays& replays, mapping::Glance glance = mapping::Glance::kUsual);
  // Only what steps from there lead to, which is complete; what is given in `schedule` stays.
  Choosing(const MachineConfig& machine, const config::Network& network, const Schedule& schedule,
           mapping::Replays& replays, mapping::Glance glance, const Schedule& from);
  void begin_from(const Schedule& from);         // Chooser's; of what is open
  bool advance() { return chooser_.advance(); }  // false: there is no part left
  mapping::Estimate best() { return chooser_.best(); }
  bool does_as(Choosing& other) { return chooser_.does_as(other.chooser_); }  // mapping::Chooser's
  Choice choice();                    // throws RunError, or config::ConfigError, where no choice fits
  std::optional<Choice> likeliest();  // what best() is of, not looked at closely; none: nothing fits

 private:
  const MachineConfig& machine_;
  const config::Network& network_;
  Schedule schedule_;
  mapping::Chooser chooser_;
};

// All of it, or where it begins. Throws likewise.
Choice choose_tiles(const MachineConfig& machine, const config::Network& network, const Schedule& schedule,
                    mapping::Replays& replays);
Choice look_at_tiles(const MachineConfig& machine, const config::Network& network, const Schedule& schedule,
                     mapping::Replays& replays, mapping::Glance glance = mapping::Glance::kUsual);
// That any schedule of the layer takes at least, of that kind: attention, or a step.
double least_cycles(const MachineConfig& machine, const config::Network& network, const Schedule& schedule);

}  // namespace attnvp::job
