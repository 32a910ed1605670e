// A cluster's command stream, kept: what the processor did, in its order.
#pragma once

#include <cstdint>
#include <vector>

#include "mapping/bus.h"
#include "mapping/costs.h"

namespace attnvp::mapping {

struct Recording {
  enum class Kind : std::uint8_t { kCommand, kGive, kTake };
  struct Step {
    Kind kind = Kind::kCommand;
    Queue queue;                // of a command,
    std::uint32_t command = 0;  //   which is commands[command]
    std::uint32_t event = 0, tokens = 0;
    std::uint64_t bus_bytes = 0;  // of the processor's accesses up to here, rounded up to whole bus words
    std::uint64_t commands = 0;   // up to here
  };
  // What of a descriptor time depends on.
  struct Command {
    hal::EventRef wait[hal::kWaits];
    hal::EventRef signal[hal::kSignals];  // without what goes to other clusters
    std::uint32_t cost = 0;               // Costs::number_of
    bool transfer = false, deferrable = false;
  };
  std::vector<Step> steps;
  std::vector<Command> commands;
  std::vector<Queue> asked;      // queues whose levels firmware looks at: it never waits for room in them
  std::uint64_t bus_bytes = 0;   // of all accesses, until there were enough commands
  std::uint64_t peak_bytes = 0;  // of L1
  double macs = 0;               // multiply-accumulates of the commands,
  double hidden = 0;             //   of those, of scores of tiles that a mask hides,
  double score_macs = 0;         //   and of those that make scores
  double bus = 0;                // cycles of the DRAM bus that their copies take,
  double out = 0;                //   and of those that write it
  double l1 = 0;                 // and of a port of L1 that all of them take
  std::vector<double> busy;      // of each engine, MAC and VEC of one core after the other, what its units need
  std::uint64_t digest = 0;      // of all that a replay depends on
  bool complete = true;          // false: the stream is longer than was asked for
  bool by_itself = false;        // that, and nothing in it waits for other clusters
  hal::JobResult result{};

  double busiest() const;  // of all engines
};

// At most `most` commands; the stream's rest is not recorded. `half`: of a stream that is longer than half of that, the
// first half, as it is recorded by itself.
Recording record(const Job& job, std::uint32_t cluster, Costs& costs, std::size_t most, Recording* half = nullptr);

}  // namespace attnvp::mapping
