// What commands need of the machine: the models' own plans (models/engine/plan.h), reduced to the cycles of each stage
// and remembered by shape, as a schedule has few of them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "firmware/hal/descriptor.h"
#include "mapping/bus.h"
#include "mapping/shared_l1.h"
#include "models/mac_engine/mac_plan.h"
#include "models/machine.h"
#include "models/vec_engine/vec_plan.h"

namespace attnvp::mapping {

// What an engine's stages do with L1 (models/engine/plan.h).
enum Stage : std::uint32_t { kFill, kBody, kLast, kDrain, kStages };

// Cycles of a command in an engine's stages, or of a copy on the DRAM bus.
struct Cost {
  Crossing stage[kStages];  // drain: behind the pipeline
  double pipeline = 0;
  double l1_bytes = 0;  // of all stages, or of a copy
  double pace = 0;      // of body and last, what the units alone need
  // Of a copy: its bytes on the slower of the buses that it crosses; with its bursts one behind the other.
  double bus = 0, bursts = 0, latency = 0;
  double drain = 0;         // of the last burst, through L1
  double dram = 0, l2 = 0;  // on each of them, at least: a cache before DRAM may have it
  double hidden = 0;        // scores of a tile that the mask hides
  bool shared = false;      // a read of DRAM that another cluster's may be the answer of: it can be over at once
  bool after_previous = false;
  bool possible = true;  // false: the engine would refuse it

  std::array<double, 19> values() const;  // all of them
};

class Costs {
 public:
  explicit Costs(const MachineConfig& machine);
  // Of the processor for each command, beyond its bus accesses; in cycles of the platform.
  double control() const { return control_; }
  void set_control(double cycles) { control_ = cycles; }
  const MachineConfig& machine() const { return machine_; }
  // A number for all commands that cost the same.
  std::uint32_t number_of(Unit unit, const hal::Descriptor& descriptor);
  const Cost& of(std::uint32_t number) const { return costs_[number]; }

 private:
  // What a cost depends on: everything but addresses, events, names, and where in the array a tile is.
  using Shape = std::array<std::uint64_t, 9>;
  struct Hash {
    std::size_t operator()(const Shape& shape) const;
  };
  static Shape shape_of(Unit unit, const hal::Descriptor& descriptor);
  Cost engine(Unit unit, const hal::Descriptor& descriptor);
  Cost copy(const hal::Descriptor& descriptor) const;

  const MachineConfig& machine_;
  MacPlanner mac_;
  VecPlanner vec_;
  std::unordered_map<Shape, std::uint32_t, Hash> numbers_;
  // Some of them, by a few of their bits: where most commands find theirs.
  static constexpr std::size_t kRecentBits = 6;
  static std::size_t recent_at(const Shape& shape);
  std::array<std::pair<Shape, std::uint32_t>, 1 << kRecentBits> recent_{};
  std::map<std::array<double, 19>, std::uint32_t> equals_;
  std::vector<Cost> costs_;
  double control_ = 0;
};

}  // namespace attnvp::mapping
