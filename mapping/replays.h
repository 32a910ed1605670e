// Replays that are remembered by what they are of: clusters that have the same to do, and schedules that differ in what
// makes no difference on this machine, have the same stream.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "mapping/costs.h"
#include "mapping/effort.h"
#include "mapping/recording.h"
#include "mapping/replay.h"

namespace attnvp::mapping {

class Replays {
 public:
  explicit Replays(const MachineConfig& machine) : costs_(machine) {}  // which outlives this
  explicit Replays(MachineConfig&&) = delete;
  Costs& costs() { return costs_; }     // of the recordings
  Effort& effort() { return effort_; }  // of the recordings and replays
  // recording.h
  Recording record(const Job& job, std::uint32_t cluster, std::size_t most);
  // Cycles of an estimate (replay.h); where those are `enough` or more, no less than that.
  double cycles(const std::vector<const Recording*>& clusters, double share, double enough = kNever);

 private:
  struct Known {
    double cycles = 0;
    double enough = 0;  // it was replayed no further
  };
  Costs costs_;
  Effort effort_;
  std::map<std::vector<std::uint64_t>, Known> known_;
};

}  // namespace attnvp::mapping
