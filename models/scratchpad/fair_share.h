// Arbitration of a memory's bandwidth. Ports grant beats to their requesters in turn, banks grant beats to ports in
// turn; between two changes of who is asking, that is a constant max-min fair rate for each, so time is computed
// from change to change instead of beat by beat.
#pragma once

#include <cstdint>
#include <vector>

#include "models/scratchpad/arbiter.h"

namespace attnvp {

class FairShare : public Arbiter {
 public:
  // Bytes per cycle of each port and of all of them together.
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
  double port_rate(std::uint32_t port) const override {
    double sum = 0;
    for (const Flow& f : flows_) sum += f.active && f.port == port ? f.rate : 0.0;
    return sum;
  }
  std::size_t groups() const override { return groups_.size(); }
  std::size_t group_of(std::uint32_t port) const override { return groups_.size() > 1 ? port : 0; }
  bool active(std::size_t slot) const { return flows_[slot].active; }
  std::size_t slots() const { return flows_.size(); }

 private:
  struct Flow {
    bool active = false;
    std::uint32_t port = 0;
    double cap = 0;        // bytes per cycle the requester asks for
    double rate = 0;       // bytes per cycle it gets
    double remaining = 0;  // bytes, as of `since`
    std::uint64_t since = 0;
    std::uint64_t pace_end = 0;  // when it would end undisturbed
    std::uint64_t finish = 0;
  };
  struct Port {
    double demand = 0;        // sum of its flows' caps
    double left = 0;          // while rates are dealt out
    std::uint32_t users = 0;  // likewise
  };
  // Ports whose flows may be in each other's way: all of them, or, where banks have enough for every port, each one by
  // itself.
  struct Group {
    double rate = 0;  // bytes per cycle of all its ports together
    std::size_t first = 0, end = 0;
    double demand = 0;  // sum of its flows' caps
    bool contended = false;
    std::vector<std::size_t> flows{};  // active slots
  };
  void reallocate(Group& group, std::uint64_t now);
  void ask(Group& group, Flow& flow, double cap);
  void progressive_fill(Group& group);
  bool everyone_at_cap(const Group& group) const;
  bool at_cap(const Group& group, std::uint32_t port) const;  // it, and all of them together

  double port_rate_;
  double best_rate_;  // of one flow
  std::vector<Port> ports_;
  std::vector<Group> groups_;
  std::vector<Flow> flows_;
};

}  // namespace attnvp
