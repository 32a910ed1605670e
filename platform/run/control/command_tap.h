// Tap on the writes of control processors during a run. It forwards the commands to readers of command streams
// (platform/schedule/bus.h). Callbacks may change the bytes that the reader and the machine receive.
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
  // Called for each descriptor written to a queue; may change it.
  using Change = std::function<void(std::uint32_t cluster, const schedule::Queue& queue, std::uint64_t number,
                                    hal::Descriptor& descriptor)>;
  // Called for each token access (take or give) of the processor itself; may change it.
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
