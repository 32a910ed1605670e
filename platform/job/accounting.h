// Where the time of a run went, engine by engine, and what bounds it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "firmware/hal/job.h"
#include "models/machine.h"

namespace attnvp {
class Platform;
}

namespace attnvp::job {

struct Result;

// Every cycle of the run under exactly one reason: "useful", "ragged edge", "fill", "drain", "K from DRAM" and the like
// for an operand, "space", "order" (of the schedule), "L1 bandwidth", "L1 bank conflicts", "DRAM bandwidth",
// "processor" (has nothing in the queue), "end" (nothing more to do).
struct UnitTime {
  std::string unit;  // "attnvp.cluster0.core0.mac", a channel of a DMA controller, a control processor
  std::string kind;  // "mac", "vec", "dma", "control"
  std::vector<std::pair<std::string, std::uint64_t>> cycles;
};

// Cycles for which a resource is needed whatever the others do: no run is shorter.
struct Demand {
  std::string resource;  // mac, vec, l1_port, l1_bank, l2, dram, network, dma, control
  double cycles = 0;
};

// A change that may make the run faster, and how much at most.
struct Advice {
  struct Setting {
    std::string key, value;  // as --set takes them
  };
  std::string key;                // the first setting's; "tiling": the machine stays as it is
  double factor = 1;              // of that key's value
  std::vector<Setting> settings;  // of the machine
  std::string words;              // "twice the rows of the MAC array"
  bool same_tiling = true;        // false: for any tiling and dataflow of the layer
  double at_most = 1;             // the run is at most so many times faster
  std::string then;               // the resource that binds then
  std::string reason;             // a sentence without its full stop
  struct Trial {
    double speedup = 1;
    double area_mm2 = 0;  // that the machine's chip grows by
    std::string tiling;   // another one than the run's
  };
  std::optional<Trial> tried;  // by a run of the changed machine
};

struct Bound {
  Demand most;
  std::vector<Demand> demands;  // the most first
  double run_cycles = 0;
  double ragged_cycles = 0;    // of `most`, what was left unused at edges
  std::vector<Advice> advice;  // the best first; empty: nobody asked (advice.h), or nothing that was tried is of use
  bool advice_tried = false;
  double share() const { return run_cycles > 0 ? most.cycles / run_cycles : 0; }
};

// Tensors of the job get tags, so that a wait for a load can name what is loaded. `bias`: 0 where there is none.
void tag_tensors(Platform& platform, const hal::Layer& layer, std::uint64_t scratch, std::uint64_t bias);
std::vector<UnitTime> unit_times(const Platform& platform, std::uint64_t cycles);
Bound bound_of(const Result& result, const MachineConfig& machine);

// Mean share of a reason over all units of a kind, in the order of the first unit's reasons.
std::vector<std::pair<std::string, double>> mean_shares(const std::vector<UnitTime>& units, const std::string& kind);

}  // namespace attnvp::job
