// Parameters of the DMA controller, one per cluster.
#pragma once

#include <cstdint>

#include "models/engine/config.h"

namespace attnvp {

// Arbitration of bursts. kAge: the oldest descriptor, deferrable ones last. kPriority: the lowest channel. kRoundRobin:
// each channel in turn.
enum class DmaArbitration : std::uint8_t { kAge, kPriority, kRoundRobin };
// Unit of the limits on outstanding bursts: bursts of any length (kBursts), or bytes of full bursts (kBytes). The
// latter suits machines whose loads reserve registers or cache lines for their data.
enum class DmaCounts : std::uint8_t { kBursts, kBytes };

struct DmaConfig {
  std::string kind = "model";
  std::uint32_t channels = 4;
  std::uint32_t burst_bytes = 1024;       // largest part of a transfer that is one transaction
  std::uint32_t outstanding = 4;          // bursts in flight, over all channels
  std::uint32_t channel_outstanding = 0;  // bursts in flight of one channel; 0: as over all channels
  DmaCounts counts = DmaCounts::kBursts;  // unit of both limits
  bool in_order = true;                   // bursts are written and free their entries in the order of their reads
  std::uint32_t queue_depth = 16;         // descriptors per channel
  DmaArbitration arbitration = DmaArbitration::kAge;

  // Bytes that a burst takes of the limits.
  std::uint64_t counted(std::uint64_t bytes) const {
    constexpr std::uint64_t kLeast = 32;
    return counts == DmaCounts::kBursts ? burst_bytes : bytes < kLeast ? kLeast : bytes;
  }
  // Limits in bytes; the last burst may exceed them.
  std::uint64_t most_counted() const { return std::uint64_t{outstanding} * burst_bytes; }
  std::uint64_t most_of_a_channel() const {
    return std::uint64_t{channel_outstanding == 0 ? outstanding : channel_outstanding} * burst_bytes;
  }

  static void describe(config::Keys<DmaConfig>& key) {
    using namespace config;
    using C = DmaConfig;
    key(config::kind("kind", "dma", "the DMA controller of a cluster"), &C::kind);
    key(number("channels", Unit::kCount, 2, 16, "channels of a cluster's DMA controller, each with a queue"),
        &C::channels);
    key(power_of_two("burst", Unit::kBytes, 16, kMiB, "largest piece sent to DRAM as one transaction"),
        &C::burst_bytes);
    key(number("outstanding", Unit::kCount, 1, 4096, "bursts under way at once, over all channels"), &C::outstanding);
    key(number("channel_outstanding", Unit::kCount, 0, 4096,
               "bursts under way at once of one channel, 0: as many as of all; decoding gives each core's loads a "
               "channel, so that this is what one core can draw"),
        &C::channel_outstanding);
    key(choice("counts", {"bursts", "bytes"},
               "what of them: bursts, however short, or bytes, of as many bursts of full length, of which a short one "
               "takes its own, or 32"),
        &C::counts);
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
