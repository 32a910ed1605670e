// Row operations on the processing elements of the array (MacConfig::resident_tiles). A tile of scores stays in their
// registers between two descriptors, as on FuseMax's two-dimensional array.
//
// For kScoreTile every PE computes its score (k cycles per pass) and takes part in its row's maximum (max_cycles). The
// maximum leaves the array reduce_cycles after the last PE's. Masked scores are -inf, decided by the position of the
// PE. For kAttendTile every PE subtracts the row's running maximum, exponentiates and adds to the row's sum (2 x
// add_cycles + exp_cycles). Then P is the stationary operand: one column of V per cycle and pass.
#pragma once

#include <cstdint>
#include <vector>

#include "firmware/hal/descriptor.h"
#include "models/arith/half.h"
#include "models/machine.h"

namespace attnvp {

constexpr std::uint64_t kSumBytes = hal::element_bytes(hal::ElementType::kFp32);  // in L0, and of partials
inline std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

class ResidentTiles {
 public:
  explicit ResidentTiles(const MacConfig& config) : config_(config), tiles_(config.resident_tiles) {}

  // Array passes of a tile of scores.
  std::uint64_t passes(std::uint64_t rows, std::uint64_t columns) const;
  bool fit(std::uint32_t slot, std::uint64_t rows, std::uint64_t columns) const;

  // Tile that starts in `slot`. Shapes are set when a descriptor is fetched, values when it has been executed.
  void put(std::uint32_t slot, std::uint64_t rows, std::uint64_t columns);
  bool holds(std::uint32_t slot, std::uint64_t rows, std::uint64_t columns) const;
  std::vector<arith::Half>& scores(std::uint32_t slot) { return tiles_[slot].scores; }

 private:
  struct Tile {
    std::uint64_t rows = 0, columns = 0;  // 0: no tile starts here
    std::vector<arith::Half> scores;
  };
  MacConfig config_;
  std::vector<Tile> tiles_;
};

}  // namespace attnvp
