// The DMA controller's parameters, one per cluster.
#pragma once

#include <cstdint>

#include "models/engine/config.h"

namespace attnvp {

// Whose burst goes next: the oldest descriptor's, deferrable ones last; the lowest channel's; every channel's in turn.
enum class DmaArbitration : std::uint8_t { kAge, kPriority, kRoundRobin };

struct DmaConfig {
  std::uint32_t channels = 4;
  std::uint32_t burst_bytes = 1024;  // largest piece of one transfer sent to DRAM as one transaction
  std::uint32_t outstanding = 4;     // bursts under way at once, over all channels
  std::uint32_t channel_outstanding = 0;  // likewise, of one channel; 0: as many as of all
  bool in_order = true;                   // bursts are written and make room in the order in which they were read
  std::uint32_t queue_depth = 16;    // descriptors per channel
  DmaArbitration arbitration = DmaArbitration::kAge;

  static void describe(config::Keys<DmaConfig>& key) {
    using namespace config;
    using C = DmaConfig;
    key(number("channels", Unit::kCount, 2, 16, "channels of a cluster's DMA controller, each with a queue"),
        &C::channels);
    key(power_of_two("burst", Unit::kBytes, 16, kMiB, "largest piece sent to DRAM as one transaction"),
        &C::burst_bytes);
    key(number("outstanding", Unit::kCount, 1, 4096, "bursts under way at once, over all channels"), &C::outstanding);
    key(number("channel_outstanding", Unit::kCount, 0, 4096,
               "bursts under way at once of one channel, 0: as many as of all; decoding gives each core's loads a "
               "channel, so that this is what one core can draw"),
        &C::channel_outstanding);
    key(flag("in_order", "bursts make room for others in the order in which they were sent; false: as they are done"),
        &C::in_order);
    key(queue_depth_key("a DMA channel holds"), &C::queue_depth);
    key(choice("arbitration", {"age", "priority", "round-robin"},
               "who gets the next burst: the oldest descriptor (deferrable ones last), the lowest channel number, or "
               "each in turn"),
        &C::arbitration);
  }
};

}  // namespace attnvp
