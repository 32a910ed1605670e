// Commands of control processors: lists that are compiled before a run, and a tap on their writes during a run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "models/interconnect/interconnect.h"
#include "models/machine.h"
#include "platform/schedule/bus.h"

namespace attnvp::job {

// Command list (firmware/hal/list.h), compiled on the host by running a job's firmware before the simulation.
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

namespace attnvp {
class Platform;
}

namespace attnvp::job {

// Tap on the writes of control processors during a run. It forwards the commands to readers of command streams
// (platform/schedule/bus.h). Callbacks may change the bytes that the reader and the machine receive.
class CommandTap {
 public:
  // Called for each descriptor written to a queue; may change it.
  using DescriptorHook = std::function<void(std::uint32_t cluster, const schedule::Queue& queue, std::uint64_t number,
                                            hal::Descriptor& descriptor)>;
  // Called for each token access (take or give) of the processor itself; may change it.
  using TokenHook = std::function<void(std::uint32_t cluster, std::uint64_t number, bool take, std::uint32_t& event,
                                       std::uint32_t& tokens)>;
  CommandTap(Platform& platform, const schedule::Job& job,
             const std::function<schedule::Reader*(std::uint32_t cluster)>& readers, DescriptorHook change = {},
             TokenHook of_processor = {});
  ~CommandTap();
  CommandTap(const CommandTap&) = delete;
  CommandTap& operator=(const CommandTap&) = delete;

 private:
  class Ear;
  Platform& platform_;
  std::vector<std::unique_ptr<Ear>> ears_;
};

}  // namespace attnvp::job
