// What control processors write while a job runs, told to readers of command streams (platform/schedule/bus.h): the
// commands of this very run. A reader may be given other bytes than the processor wrote, and so may the machine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "models/interconnect/interconnect.h"
#include "platform/schedule/bus.h"

namespace attnvp {
class Platform;
}

namespace attnvp::job {

class CommandTap {
 public:
  // Descriptors on their way into a queue, which it may change.
  using Change = std::function<void(std::uint32_t cluster, const schedule::Queue& queue, std::uint64_t number,
                                    hal::Descriptor& descriptor)>;
  // Takes and gives of the processor itself, which it may change likewise.
  using EventChange = std::function<void(std::uint32_t cluster, std::uint64_t number, bool take, std::uint32_t& event,
                                         std::uint32_t& tokens)>;
  CommandTap(Platform& platform, const schedule::Job& job,
             const std::function<schedule::Reader*(std::uint32_t cluster)>& readers, Change change = {},
             EventChange of_processor = {});
  ~CommandTap();
  CommandTap(const CommandTap&) = delete;
  CommandTap& operator=(const CommandTap&) = delete;

 private:
  class Ear;
  Platform& platform_;
  std::vector<std::unique_ptr<Ear>> ears_;
};

}  // namespace attnvp::job
