// Weights of a product in fewer bits than its other operand (hal::Weights). DMA loads a tile of B and the scales of its
// groups as they lie in DRAM. The VEC engines of all cores convert it, each a part of its rows, into the tile that the
// MAC engines read.
#pragma once

#include "firmware/runtime/gemm.h"

namespace attnvp::firmware {

// B in DRAM: codes of `n` rows of `k` elements, and the scales of their groups.
struct QuantisedMatrix {
  uint64_t codes, scales;
  uint32_t n, k;  // 0: no matrix
};

// A tile of B: `columns` rows of B in `parts` runs of equal length, at the depth from `from` on.
struct WeightTile {
  uint32_t columns, parts;
  uint32_t first[2];  // first row of B of each run
  uint32_t from, depth;
  uint32_t users;            // cores that multiply it, the first ones
  uint32_t head, row_block;  // labels
};

class WeightTiles {
 public:
  // Without weights of their own type (hal::ElementType::kNone) nothing is allocated. `depths`: of all matrices whose
  // tiles are converted; 0: none. `parts`: runs of a tile, at most.
  WeightTiles(Runtime& rt, const hal::Weights& weights, const GemmTiling& tiling, const uint32_t (&depths)[2],
              uint32_t parts, bool panels);

  bool any() const { return weights_.type != hal::ElementType::kNone; }
  // Loads a tile of `b` on the DMA channel and converts it into `to`.
  void prepare(uint32_t channel, const QuantisedMatrix& b, const WeightTile& tile, const Matrix& to);
  // The core's product with the tile prepared last.
  void use(Command& multiply, uint32_t core) const {
    multiply.after(of_slot(converted_).of(core), cores_).then(of_slot(read_));
  }
  // Tiles in L1 that are converted: one is multiplied while the next one is converted.
  static uint32_t slots(const GemmTiling& tiling) { return min<uint32_t>(tiling.ring, 2); }

 private:
  // Events of the cores for the tile prepared last. Tiles in turn have their own, as a core may be a tile ahead.
  Events of_slot(const Events& events) const { return {events.first + (tiles_ - 1) % slots(t_) * cores_, cores_}; }
  uint32_t group_of(uint32_t element) const { return weights_.group == 0 ? 0 : element / weights_.group; }
  uint32_t groups_of(uint32_t from, uint32_t depth) const { return group_of(from + depth - 1) - group_of(from) + 1; }
  uint32_t most_groups(uint32_t k) const;  // of a tile
  void load(uint32_t channel, const QuantisedMatrix& b, const WeightTile& tile, const Matrix& codes,
            const Matrix& scales);

  Runtime& rt_;
  hal::Weights weights_;
  GemmTiling t_;
  bool panels_;
  uint32_t cores_, loads_of_tile_, tiles_ = 0;
  uint64_t codes_ = 0, code_bytes_ = 0, scales_ = 0, scale_bytes_ = 0;  // L1 addresses; of a slot
  Events loaded_, free_, converted_, read_;
  uint32_t users_[2] = {};  // of the tile in a slot
};

}  // namespace attnvp::firmware
