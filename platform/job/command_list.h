// Command lists (firmware/hal/list.h), made on the host by running a job's firmware beforehand, as a compiler for such a
// machine does.
#pragma once

#include <cstdint>
#include <vector>

#include "mapping/bus.h"
#include "models/machine.h"

namespace attnvp::job {

// Of one cluster. Empty where firmware refuses the job, which it then does in the run, too. Throws RunError where it
// asks the machine how far it is, which a list cannot answer.
std::vector<std::uint32_t> command_list(const mapping::Job& job, const MachineConfig& machine, std::uint32_t cluster);

// Of all clusters; the job is then to be done by them: they come last in DRAM, behind what `scratch` is left with. Where
// firmware refuses the job there are none, and it is as it was. Throws RunError where there is no room.
struct PlacedList {
  std::uint64_t address;
  std::vector<std::uint32_t> words;
};
std::vector<PlacedList> make_lists(mapping::Job& job, const MachineConfig& machine);

}  // namespace attnvp::job
