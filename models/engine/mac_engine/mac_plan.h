// Plan of a descriptor on the matrix engine (mac_engine.h), and its amount of work: products, and row operations on
// tiles that stay in the array. Engines execute it; readers of a schedule count with it, without simulation.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "firmware/hal/descriptor.h"
#include "models/arith/half.h"
#include "models/engine/config.h"
#include "models/engine/plan.h"
#include "models/machine.h"

namespace attnvp {

// Row operations on the processing elements of the array (MacConfig::resident_tiles). A tile of scores stays in their
// registers between two descriptors, as on FuseMax's two-dimensional array.
//
// For kScoreTile every PE computes its score (k cycles per pass) and takes part in its row's maximum (max_cycles). The
// maximum leaves the array reduce_cycles after the last PE's. Masked scores are -inf, decided by the position of the
// PE. For kAttendTile every PE subtracts the row's running maximum, exponentiates and adds to the row's sum (2 x
// add_cycles + exp_cycles). Then P is the stationary operand: one column of V per cycle and pass.

constexpr std::uint64_t kSumBytes = hal::element_bytes(hal::ElementType::kFp32);  // in L0, and of partials

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
  void visit_state(sim::StateVisitor& visitor) const {
    for (const Tile& tile : tiles_) {
      visitor.value(tile.rows);
      visitor.value(tile.columns);
    }
  }

 private:
  struct Tile {
    std::uint64_t rows = 0, columns = 0;  // 0: no tile starts here
    std::vector<arith::Half> scores;
  };
  MacConfig config_;
  std::vector<Tile> tiles_;
};

inline bool multiplies(const MacConfig& config, hal::ElementType type) {
  if (hal::element_bytes(type) == 1) return (hal::is_integer(type) ? config.int8_rate : config.fp8_rate) > 0;
  return (type == hal::ElementType::kBf16 ? config.bf16_rate : config.fp16_rate) > 0;
}
// Steps of k that a PE takes per cycle, for a type that it multiplies.
inline std::uint64_t mac_rate(const MacConfig& config, hal::ElementType type) {
  if (hal::element_bytes(type) != 1) return 1;
  return std::max(1U, hal::is_integer(type) ? config.int8_rate : config.fp8_rate);
}

// Factor of a descriptor's sums before rounding.
inline float scale_of(const hal::Descriptor& d) {
  float scale = 1;
  if ((d.flags & hal::kScaled) != 0) std::memcpy(&scale, &d.tail.rule.scale, sizeof scale);
  return scale;
}

// Addends of scores (hal::has_addends): number of columns, region in L1, and check.
inline std::uint32_t addend_columns(const hal::Descriptor& d) {
  return hal::product_of(d).n - (d.opcode == hal::Opcode::kMatmul ? d.tail.matmul.absent : 0);
}
Region addend_rows(const hal::Descriptor& descriptor);
Refusal check_addends(const hal::Descriptor& descriptor);

struct MacWork {
  std::uint64_t macs = 0;           // useful multiply-accumulates
  std::uint64_t slots = 0;          // cycles times processing elements while computing, idle ones included
  std::uint64_t accumulations = 0;  // updates of sums in the PEs' registers
  std::uint64_t max_ops = 0, add_ops = 0, exp_ops = 0;
  MacWork& operator+=(const MacWork& o);
};

// Passes of a product m x n x k in sub-tiles m0 x n0 x k0. They depend on the sizes only. They are cached, since a
// schedule has few sizes and the computation many divisions.
struct MatmulSizes {
  std::uint64_t m = 0, n = 0, k = 0, m0 = 0, n0 = 0, k0 = 0;
  std::uint64_t rate = 0;  // per PE
  bool operator==(const MatmulSizes& o) const {
    return m == o.m && n == o.n && k == o.k && m0 == o.m0 && n0 == o.n0 && k0 == o.k0 && rate == o.rate;
  }
};
struct MatmulPasses {
  std::uint64_t m_tiles, n_tiles;
  std::uint64_t m_last, n_last;      // of the last tile
  std::uint64_t m_passes, n_passes;  // of the array
  std::uint64_t cycles, last_cycles;
};

class MacPlanner {
 public:
  explicit MacPlanner(const MacConfig& config)
      : config_(config), sums_in_pes_(config.accumulators == "pe"), resident_(config) {}

  // Fills the plan, or returns why the descriptor is refused. Records the tiles that stay in the array.
  Refusal plan(const hal::Descriptor& descriptor, Plan& plan);
  MacWork work(const hal::Descriptor& descriptor) const;
  std::uint64_t rate(const hal::Descriptor& d) const { return mac_rate(config_, d.type[1]); }  // per PE

  std::uint64_t pes() const { return config_.pes(); }
  ResidentTiles& resident() { return resident_; }
  bool sums_in_pes() const { return sums_in_pes_; }
  static bool is_tile_op(hal::Opcode opcode) { return hal::family_of(opcode) == hal::Family::kResident; }

 private:
  Refusal plan_score(const hal::Descriptor& descriptor, Plan& plan);
  Refusal plan_attend(const hal::Descriptor& descriptor, Plan& plan) const;
  MacWork work_of_tile(const hal::Descriptor& descriptor) const;
  const MatmulPasses& passes_of(const MatmulSizes& sizes) const;
  static MatmulPasses tiles_of(const MatmulSizes& sizes);
  MatmulPasses count_passes(const MatmulSizes& sizes) const;
  MatmulPasses count_weight_passes(const MatmulSizes& sizes) const;
  // Cycles of a sub-tile on arrays that hold B.
  std::uint64_t weight_cycles(std::uint64_t m, std::uint64_t n, std::uint64_t k, std::uint64_t rate) const;
  // Cycles of so many steps at the peak rate.
  std::uint64_t sustained(std::uint64_t cycles) const { return ceil_div(cycles * 100, config_.sustained_percent); }
  // Array passes for `extent` rows (or columns) in tiles of `tile` on an array of `lanes`.
  static std::uint64_t passes(std::uint64_t extent, std::uint64_t tile, std::uint64_t lanes);

  MacConfig config_;
  static constexpr std::size_t kRemembered = 4;
  mutable std::array<std::pair<MatmulSizes, MatmulPasses>, kRemembered> remembered_{};
  mutable std::size_t next_remembered_ = 0;
  bool sums_in_pes_;
  ResidentTiles resident_;
};

}  // namespace attnvp
