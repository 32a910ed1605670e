// Command lists (firmware/hal/list.h), made on the host by running a job's firmware beforehand, as a compiler for such
// a machine does.
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

// Of every cluster; the job is then to be done by them: they lie at the end of DRAM, behind what `scratch` is left
// with. None where firmware refuses the job, which it then does in the run. Throws RunError where there is no room, and
// where firmware asks the machine how far it is, which a list cannot answer.
std::vector<PlacedList> make_lists(schedule::Job& job, const MachineConfig& machine);

}  // namespace attnvp::job
