// The tilings a search chooses from: a few sensible values per parameter of the dataflow, from its declaration, kept so
// small that all combinations can be listed (some thousands for the paper's networks).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/config/energy.h"
#include "platform/job/job.h"

namespace attnvp::explore {

// What is to be tiled.
struct Problem {
  MachineConfig machine;
  config::Network network;
  job::Schedule schedule;  // its tiling is not used
  config::EnergyTable energy;
};

// One point: an index into every dimension's values.
using Point = std::vector<std::uint8_t>;

// Dimensions are ordered by influence, the first one is the most significant digit of a point's number: points that
// share their first dimensions are neighbours (which the tree search relies on).
class Space {
 public:
  struct Dimension {
    std::string name;
    std::vector<std::uint32_t> values;  // 1 to 255
    bool in_command = false;            // it changes how commands are done, not which there are
  };
  explicit Space(const Problem& problem);
  explicit Space(std::vector<Dimension> dimensions);

  std::uint64_t size() const { return size_; }  // points
  std::size_t dimensions() const { return dimensions_.size(); }
  const std::string& name(std::size_t dimension) const { return dimensions_[dimension].name; }
  const std::vector<std::uint32_t>& values(std::size_t dimension) const { return dimensions_[dimension].values; }
  // Points that agree in dimensions [0, dimension): how many, the product of the other dimensions' sizes.
  std::uint64_t points_below(std::size_t dimension) const { return below_[dimension]; }

  Point point(std::uint64_t number) const;
  std::uint64_t number(const Point& point) const;
  job::Tiling tiling(const Point& point) const;
  job::Tiling tiling(std::uint64_t number) const { return tiling(point(number)); }
  // The point that has the same commands, and the first values of what is in them: they share what is said of those.
  std::uint64_t same_commands(std::uint64_t number) const;
  // The point whose values are nearest (in ratio) to a tiling's.
  Point nearest(const job::Tiling& tiling) const;

 private:
  void count();

  std::vector<Dimension> dimensions_;
  std::vector<std::uint64_t> below_;
  std::uint64_t size_ = 0;
};

}  // namespace attnvp::explore
