// A cluster's L1 as the stages of its engines and its DMA share it: as the scratchpad's ports and banks do
// (models/scratchpad/fair_share.h), every port by itself where the banks have enough for all of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
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
      shares_.assign(l1.ports, Share{FairShare(1, port, port)});
    } else {
      shares_.push_back(Share{FairShare(l1.ports, port, banks)});
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
    if (crosser >= open_.size()) open_.resize(crosser + 1);
    open_[crosser] = true;
    const Flow flow{crosser, now, shares_.size() > 1 ? 0 : port, crossing};
    if (share.crossings++ == 0) {
      share.alone = flow;
      return plan(at, now + share.flows.alone_cycles(crossing.bytes, crossing.pace));
    }
    if (share.alone.crosser != kNobody) share.open(std::exchange(share.alone, {}));
    share.open(flow);
    plan(at, share.next());
  }
  // Whether one is over now, of that share, when its event has come. Then others may take its share.
  bool over(std::uint32_t at, std::uint32_t& crosser) {
    Share& share = shares_[at];
    const auto now = static_cast<std::uint64_t>(agenda_.now());
    if (share.planned != now) return false;
    share.planned = UINT64_MAX;
    if (share.alone.crosser != kNobody) {
      crosser = std::exchange(share.alone, {}).crosser;
      --share.crossings;
      open_[crosser] = false;
      return true;
    }
    for (std::size_t slot = 0; slot < share.flows.slots(); ++slot) {
      if (!share.flows.active(slot) || share.flows.finish(slot) != now) continue;
      share.flows.close(now, slot);
      --share.crossings;
      crosser = share.crosser[slot];
      open_[crosser] = false;
      plan(at, share.next());
      return true;
    }
    plan(at, share.next());
    return false;
  }
  bool crosses(std::uint32_t crosser) const { return crosser < open_.size() && open_[crosser]; }

 private:
  static constexpr std::uint32_t kNobody = UINT32_MAX;
  struct Flow {
    std::uint32_t crosser = kNobody;
    std::uint64_t since = 0;
    std::uint32_t port = 0;
    Crossing crossing{};
  };
  struct Share {
    FairShare flows;
    std::vector<std::uint32_t> crosser{};  // of each slot
    std::uint64_t planned = UINT64_MAX;    // when it is looked at what is over
    std::uint32_t crossings = 0;
    Flow alone{};  // the only one, of which `flows` has not heard: its end is known

    void open(const Flow& f) {
      const std::size_t slot = flows.open(f.since, f.port, f.crossing.bytes, f.crossing.pace);
      if (slot >= crosser.size()) crosser.resize(slot + 1);
      crosser[slot] = f.crosser;
    }
    std::uint64_t next() const {
      std::uint64_t next = UINT64_MAX;
      for (std::size_t slot = 0; slot < flows.slots(); ++slot) {
        if (flows.active(slot)) next = std::min(next, flows.finish(slot));
      }
      return next;
    }
  };
  // What others have put off meanwhile is found to be so when it comes.
  void plan(std::uint32_t at, std::uint64_t next) {
    Share& share = shares_[at];
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
