// A cluster's L1 as the stages of its engines and its DMA share it: as the scratchpad's ports and banks do
// (models/scratchpad/fair_share.h), every port by itself where the banks have enough for all of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "mapping/shared_bus.h"
#include "models/machine.h"
#include "models/scratchpad/fair_share.h"
#include "models/whole.h"

namespace attnvp::mapping {

// Bytes that go through L1, at best evenly over so many cycles.
struct Crossing {
  std::uint64_t bytes = 0, pace = 0;
};

class SharedL1 {
 public:
  SharedL1(const ScratchpadConfig& l1, std::uint32_t initiators, std::uint32_t cluster, Agenda& agenda)
      : ports_(l1.ports), initiators_(initiators), cluster_(cluster), agenda_(agenda) {
    const double banks = static_cast<double>(l1.banks) * l1.bank_bytes_per_cycle, port = l1.port_bytes_per_cycle;
    if (banks >= port * l1.ports) {
      shares_.assign(l1.ports, {FairShare(1, port, port), {}, UINT64_MAX});
    } else {
      shares_.push_back({FairShare(l1.ports, port, banks), {}, UINT64_MAX});
    }
  }

  // Whether any other initiator can be in its way.
  bool shared(std::uint32_t initiator) const {
    return shares_.size() < ports_ || initiator >= ports_ || initiator + ports_ < initiators_;
  }
  // Each crosser has one crossing at a time.
  void open(std::uint32_t crosser, std::uint32_t initiator, const Crossing& crossing) {
    const auto now = whole_above(agenda_.now());
    const std::uint32_t port = initiator % ports_, at = shares_.size() > 1 ? port : 0;
    Share& share = shares_[at];
    const std::size_t slot = share.flows.open(now, shares_.size() > 1 ? 0 : port, crossing.bytes, crossing.pace);
    if (slot >= share.crosser.size()) share.crosser.resize(slot + 1);
    share.crosser[slot] = crosser;
    if (crosser >= open_.size()) open_.resize(crosser + 1);
    open_[crosser] = true;
    plan(at);
  }
  // Whether one is over now, of that share, when its event has come. Then others may take its share.
  bool over(std::uint32_t at, std::uint32_t& crosser) {
    Share& share = shares_[at];
    const auto now = static_cast<std::uint64_t>(agenda_.now());
    if (share.planned != now) return false;
    share.planned = UINT64_MAX;
    for (std::size_t slot = 0; slot < share.flows.slots(); ++slot) {
      if (!share.flows.active(slot) || share.flows.finish(slot) != now) continue;
      share.flows.close(now, slot);
      crosser = share.crosser[slot];
      open_[crosser] = false;
      plan(at);
      return true;
    }
    plan(at);
    return false;
  }
  bool crosses(std::uint32_t crosser) const { return crosser < open_.size() && open_[crosser]; }

 private:
  struct Share {
    FairShare flows;
    std::vector<std::uint32_t> crosser;  // of each slot
    std::uint64_t planned = UINT64_MAX;  // when it is looked at what is over
  };
  // What others have put off meanwhile is found to be so when it comes.
  void plan(std::uint32_t at) {
    Share& share = shares_[at];
    std::uint64_t next = UINT64_MAX;
    for (std::size_t slot = 0; slot < share.flows.slots(); ++slot) {
      if (share.flows.active(slot)) next = std::min(next, share.flows.finish(slot));
    }
    if (next >= share.planned) return;
    share.planned = next;
    agenda_.plan(static_cast<double>(next), Happens::kCrossed, cluster_, at);
  }

  std::uint32_t ports_, initiators_, cluster_;
  Agenda& agenda_;
  std::vector<Share> shares_;
  std::vector<bool> open_;
};

}  // namespace attnvp::mapping
