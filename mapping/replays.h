// Replays that are remembered by what they are of: clusters that have the same to do, and schedules that differ in what
// makes no difference on this machine, have the same stream.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mapping/costs.h"
#include "mapping/effort.h"
#include "mapping/recording.h"
#include "mapping/replay.h"

namespace attnvp::mapping {

struct Known;  // known.h

class Replays {
 public:
  explicit Replays(const MachineConfig& machine);  // which outlives this
  explicit Replays(MachineConfig&&) = delete;
  ~Replays();
  Replays(const Replays&) = delete;
  Replays& operator=(const Replays&) = delete;
  Costs& costs() { return costs_; }     // of the recordings
  Effort& effort() { return effort_; }  // of the recordings and replays
  // recording.h
  Recording record(const Job& job, std::uint32_t cluster, std::size_t most, Recording* half = nullptr);
  // Cycles of an estimate (replay.h); where those are `enough` or more, no less than that.
  double cycles(const std::vector<const Recording*>& clusters, double share, double enough = kNever);
  // Of the job's schedules, whatever its block has for parameters.
  Known& known(const Job& job);

 private:
  struct Replayed {
    double cycles = 0;
    double enough = 0;  // it was replayed no further
  };
  Costs costs_;
  Effort effort_;
  std::map<std::vector<std::uint64_t>, Replayed> replayed_;
  std::map<std::string, std::unique_ptr<Known>> known_;  // by all that a job is
};

}  // namespace attnvp::mapping
