// The tilings a search chooses from: a few sensible values per tile size, kept so small that all combinations can be
// listed (some thousands for the paper's networks).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "platform/job/job.h"

namespace attnvp::explore {

// What is to be tiled.
struct Problem {
  MachineConfig machine;
  config::Network network;
  job::Schedule schedule;  // its tiling is not used
  config::EnergyTable energy;
};

enum DimensionIndex : std::uint8_t { kNq, kKv, kHh, kBb, kNkv, kRb, kM0, kN0, kK0, kDimensions };

// One point: an index into every dimension's values.
using Point = std::array<std::uint8_t, kDimensions>;

// Dimensions are ordered by influence, the first one is the most significant digit of a point's number: points that
// share their first dimensions are neighbours (which the tree search relies on).
class Space {
 public:
  explicit Space(const Problem& problem);
  // Given values only; every dimension needs at least one, at most 255.
  explicit Space(std::array<std::vector<std::uint32_t>, kDimensions> values);

  std::uint64_t size() const { return size_; }  // points
  const std::vector<std::uint32_t>& values(std::size_t dimension) const { return values_[dimension]; }
  // Points that agree in dimensions [0, dimension): how many, the product of the other dimensions' sizes.
  std::uint64_t points_below(std::size_t dimension) const { return below_[dimension]; }

  Point point(std::uint64_t number) const;
  std::uint64_t number(const Point& point) const;
  hal::Tiling tiling(const Point& point) const;
  hal::Tiling tiling(std::uint64_t number) const { return tiling(point(number)); }
  // The point whose values are nearest (in ratio) to a tiling's.
  Point nearest(const hal::Tiling& tiling) const;

  // False when an L0 sub-tile of the tiling cannot fit: the one limit that is known without firmware.
  static bool fits_l0(const MachineConfig& machine, const hal::Tiling& tiling);

 private:
  void count();

  std::array<std::vector<std::uint32_t>, kDimensions> values_;
  std::array<std::uint64_t, kDimensions + 1> below_{};
  std::uint64_t size_ = 0;
};

// The tiling field behind a dimension.
std::uint32_t& field(hal::Tiling& tiling, std::size_t dimension);

}  // namespace attnvp::explore
