// Results of a run: counters of the module tree, stall attribution engine by engine, the resource that bounds it with
// advice, and the distribution of its work.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "firmware/hal/descriptor.h"
#include "firmware/hal/job.h"
#include "models/machine.h"
#include "models/sim/module.h"
#include "platform/machine/energy.h"

namespace attnvp {
class Platform;
}

namespace attnvp::job {

struct RunResult;

// Every cycle of the run has exactly one reason: "useful", "ragged edge", "fill", "drain", an operand such as "K from
// DRAM", "space", "order" (of the schedule), "L1 bandwidth", "L1 bank conflicts", "DRAM bandwidth", "processor" (empty
// queue), "end" (no work left).
struct UnitTime {
  std::string unit;  // "attnvp.cluster0.core0.mac", a channel of a DMA controller, a control processor
  std::string kind;  // "mac", "vec", "dma", "control"
  std::vector<std::pair<std::string, std::uint64_t>> cycles;
};

// Cycles for which a resource is occupied in any case; a lower bound of the run.
struct Demand {
  std::string resource;  // mac, vec, l1_port, l1_bank, l2, dram, network, dma, control
  double cycles = 0;
};

// A change that may shorten the run, with an upper limit of the gain.
struct Advice {
  struct AdvisedSetting {
    std::string key, value;  // in the syntax of --set
  };
  std::string key;                       // of the first setting; "tiling": the machine is unchanged
  double factor = 1;                     // of the value of `key`
  std::vector<AdvisedSetting> settings;  // of the machine
  std::string words;                     // "twice the rows of the MAC array"
  bool same_tiling = true;               // false: for any tiling and dataflow of the layer
  double at_most = 1;                    // upper limit of the speedup
  std::string then;                      // resource that binds after the change
  std::string reason;                    // a sentence without full stop
  struct Measured {
    double speedup = 1;
    double area_mm2 = 0;  // growth of the chip's area
    std::string tiling;   // if it differs from the run's
  };
  std::optional<Measured> tried;  // measured by a run of the changed machine
};

struct Bound {
  Demand most;
  std::vector<Demand> demands;  // greatest first
  double run_cycles = 0;
  double ragged_cycles = 0;    // of `most`: unused at edges
  std::vector<Advice> advice;  // best first; empty: not requested, or no change helps
  bool advice_tried = false;
  double share() const { return run_cycles > 0 ? most.cycles / run_cycles : 0; }
};

// Tags the tensors of the job, so that stalls on a load name its tensor. `bias`: its address, 0 for none.
void tag_tensors(Platform& platform, const hal::Layer& layer, std::uint64_t scratch, std::uint64_t bias);
std::vector<UnitTime> unit_times(const Platform& platform, std::uint64_t cycles);
Bound bound_of(const RunResult& result, const MachineConfig& machine);

// Mean share of each reason over all units of a kind, in the order of the first unit's reasons.
std::vector<std::pair<std::string, double>> mean_shares(const std::vector<UnitTime>& units, const std::string& kind);

// Distribution of a run's work over clusters and cores.

// Work of one kind, by worker.
struct Dealt {
  std::vector<std::uint64_t> each;
  std::uint64_t total() const;
  std::uint64_t most() const;
  double mean() const;
  // Most over mean: the slowdown against an even distribution if nothing else limits it. 1: even, or no work.
  double ratio() const;
};

struct Imbalance {
  // Work of clusters: multiply-accumulates, busy cycles of VEC engines without stalls, bytes of DMA over the
  // interconnect.
  Dealt macs, vec_cycles, dma_bytes;
  // Work of cores, in order of clusters.
  Dealt core_macs, core_vec_cycles;
  std::vector<std::uint64_t> end;  // of clusters: cycles from the start of the run to their last activity
  std::size_t first() const;       // cluster that ends first; ties: the first
  std::size_t last() const;        // cluster that ends last; ties: the first
};
// Uses the counters and stall attribution of the result.
Imbalance imbalance_of(const RunResult& result);

// Counters of the modules of a machine, with their energy.

// One counter of a module.
struct CounterValue {
  std::string module, name, unit, description;
  std::uint64_t value = 0;
  double energy_pj = 0;               // 0 if the counter has no energy
  double low_pj = 0, high_pj = 0;     // range of the energy
  std::string component{}, action{};  // in the energy table; empty if the counter has no energy
};

// Part of a machine for a component of the energy table: "dram" for "attnvp.dram".
std::string part_of(const std::string& component);

// Whether the energy table must contain an action; tables from papers omit whole components.
bool has_energy(const config::EnergyTable& energy, const Action& action);

// The table with the energy of a multiply-accumulate of that type, if given.
config::EnergyTable for_type(const config::EnergyTable& table, hal::ElementType type);

// Cycles during which a module leaks and is clocked.
struct PoweredCycles {
  std::uint64_t leaking = 0, clocked = 0;
};
PoweredCycles powered_cycles(const Module& module, const TechnologyConfig& technology, std::uint64_t cycles);

// Energy by the cycle, independent of activity: component, action, and the cycles that count.
struct Standing {
  const char *component, *name, *description;
  std::string action;
  std::uint64_t PoweredCycles::*cycles;
};
// For a module, if the table has its component.
std::vector<Standing> standing_of(const Module& module, const config::EnergyTable& energy);

// Visits the module tree. Throws config::ConfigError for a count without energy in the table.
std::vector<CounterValue> read_counters(sc_core::sc_object& root, const config::EnergyTable& energy);
// Includes energy by the cycle, over `cycles`.
std::vector<CounterValue> read_counters(const std::vector<Module*>& modules, const config::EnergyTable& energy,
                                        const TechnologyConfig& technology, std::uint64_t cycles);

// Advice for a faster run: changes of machine keys and another tiling, each with an upper limit of the gain.
//
// With unchanged commands, the limit is the run's cycles over a lower bound for the changed machine. The bound includes
// the demand of the layer (platform/schedule/demand.h), of the commands on each engine, and the run's use of other
// resources. Changes that lower the bound are advised; edges and waits within an engine do not count. A tiling changes
// the commands; its limit is based on the demand of the layer.

struct RunResult;

// Best first, at least one. `machine`: the machine of the run.
std::vector<Advice> advice_for(const RunResult& result, const MachineConfig& machine);

}  // namespace attnvp::job
