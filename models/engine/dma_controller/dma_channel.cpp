// Signals and stall attribution of a DMA channel.
#include "models/engine/dma_controller/multi_channel_dma.h"
#include "models/sim/trace/operation.h"

namespace attnvp {

void MultiChannelDma::Channel::show() {
  const UnderWay* now = under_way.empty() ? nullptr : &under_way.front();
  operation.set(static_cast<std::uint64_t>(now != nullptr ? operation_of(now->descriptor) : Operation::kNone));
  number.set(now != nullptr ? now->number : Signal::kNone);
  head.set(now != nullptr ? now->descriptor.head : Signal::kNone);
  row_block.set(now != nullptr ? now->descriptor.row_block : Signal::kNone);
}

void MultiChannelDma::Channel::begun() {
  if (!operation.on()) return;
  under_way.push_back({current, taken_up});
  show();
}

void MultiChannelDma::Channel::settle(std::uint64_t now) {
  const bool is_busy = ready || !ending.empty();
  if (is_busy == busy) return;
  busy = is_busy;
  if (!busy) busy_cycles += now - busy_since;
  busy_since = now;
  stalls.unit(busy ? StallAttribution::kBusy : StallAttribution::kIdle, now);
}

void MultiChannelDma::Channel::done() {
  if (under_way.empty()) return;
  under_way.pop_front();
  show();
}

}  // namespace attnvp
