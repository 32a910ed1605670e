// Arbiter with max-min fair shares. Ports grant beats to their requesters in turn, and banks grant beats to ports in
// turn. Between two changes of the set of flows this gives each flow a constant rate. Time is therefore computed from
// change to change, not beat by beat.
#pragma once

#include <cstdint>
#include <vector>

#include "models/memory/scratchpad/crossings.h"

namespace attnvp {

class FairShare : public Arbiter {
 public:
  // Rates in bytes per cycle: of each port, and of all ports together.
  FairShare(std::uint32_t ports, double port_rate, double total_rate);

  std::uint64_t alone_cycles(std::uint64_t bytes, std::uint64_t pace) const override;
  std::size_t open(std::uint64_t now, std::uint32_t port, std::uint64_t bytes, std::uint64_t pace);
  std::size_t open(std::uint64_t now, std::uint32_t port, std::uint64_t bytes, std::uint64_t pace,
                   const Stream& /*stream*/) override {
    return open(now, port, bytes, pace);
  }
  void close(std::uint64_t now, std::size_t slot) override;

  std::uint64_t finish(std::size_t slot) const { return flows_[slot].finish; }
  std::uint64_t finish(std::size_t slot, std::uint64_t /*now*/) override { return finish(slot); }
  double remaining(std::size_t slot, std::uint64_t now) override {
    const Flow& f = flows_[slot];
    return f.remaining - f.rate * static_cast<double>(now - f.since);
  }
  void port_rates(std::vector<double>& rates) const override {
    rates.assign(ports_.size(), 0);
    for (const Flow& f : flows_) {
      if (f.active) rates[f.port] += f.rate;
    }
  }
  std::size_t groups() const override { return groups_.size(); }
  std::size_t group_of(std::uint32_t port) const override { return groups_.size() > 1 ? port : 0; }
  bool visit_state(sim::StateVisitor& visitor) const override;
  bool active(std::size_t slot) const { return flows_[slot].active; }
  std::size_t slots() const { return flows_.size(); }

 private:
  struct Flow {
    bool active = false;
    std::uint32_t port = 0;
    double cap = 0;        // requested bytes per cycle
    double rate = 0;       // granted bytes per cycle
    double remaining = 0;  // bytes, as of `since`
    std::uint64_t since = 0;
    std::uint64_t pace_end = 0;  // end without contention
    std::uint64_t finish = 0;
  };
  struct SharePort {
    double demand = 0;        // sum of the caps of its flows
    double left = 0;          // rate still to be distributed
    std::uint32_t users = 0;  // flows still to be served
  };
  // Ports that share bandwidth: all of them, or each port alone if the banks suffice for all ports.
  struct ShareGroup {
    double rate = 0;  // bytes per cycle of all its ports together
    std::size_t first = 0, end = 0;
    double demand = 0;  // sum of the caps of its flows
    bool contended = false;
    std::vector<std::size_t> flows{};  // active slots
  };
  void reallocate(ShareGroup& group, std::uint64_t now);
  void ask(ShareGroup& group, Flow& flow, double cap);
  void progressive_fill(ShareGroup& group);
  bool everyone_at_cap(const ShareGroup& group) const;
  bool at_cap(const ShareGroup& group, std::uint32_t port) const;  // the port's and the group's demand fit

  double port_rate_;
  double best_rate_;  // maximum of one flow
  std::vector<SharePort> ports_;
  std::vector<ShareGroup> groups_;
  std::vector<Flow> flows_;
};

}  // namespace attnvp
