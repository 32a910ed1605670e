// Command lists (firmware/hal/list.h), compiled on the host by running a job's firmware before the simulation.
#pragma once

#include <cstdint>
#include <vector>

#include "models/machine.h"
#include "platform/schedule/bus.h"

namespace attnvp::job {

struct PlacedList {
  std::uint64_t address;
  std::vector<std::uint32_t> words;
  std::uint64_t bytes() const { return words.size() * sizeof words[0]; }
};

// Makes a list for every cluster and enters it in the job. Lists lie at the end of DRAM, behind the remaining
// `scratch`. Returns none if the firmware refuses the job; the run then reports the refusal. Throws RunError if space
// is short, or if the firmware reads progress from the machine.
std::vector<PlacedList> make_lists(schedule::Job& job, const MachineConfig& machine);

}  // namespace attnvp::job
