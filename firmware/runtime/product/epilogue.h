// Operations of the VEC engines on the result of a matrix product (hal::FusedProduct), in its L1 buffers between the
// last multiplication and the store: bias, rotary embedding, activation, residual sum, conversion. DMA loads their
// operands. The last operation may write the result elsewhere in L1. CacheRows stores its last columns into a KV cache.
#pragma once

#include "firmware/runtime/gemm.h"

namespace attnvp::firmware {

// Block of the result: rows of consecutive cores, and columns before gating.
struct ProductBlock {
  uint32_t row, row_block;   // first row of core 0; label
  uint32_t column, columns;  // first column of the result in DRAM; columns of the product, gates and factors
  uint32_t cores;            // that have rows
};

// Place of the last operation's result, and further events of that operation; without a span: none.
struct Landing {
  Matrix tile;
  Events after, then[2];
};

class Epilogue {
 public:
  // `columns`: of the product. `least`: cores that have rows in the last row block.
  Epilogue(Runtime& rt, const hal::FusedProduct& what, uint32_t columns, const GemmTiling& tiling, bool panels,
           uint32_t least);

  bool any() const { return operations() > 0; }
  // Columns of the result for columns of the product.
  uint32_t of_result(uint32_t columns) const { return what_.is_gated != 0 ? columns / 2 : columns; }
  // The tile that is stored for a core's `product`. A converted one has a buffer of its own, which is free when that of
  // the product is.
  Matrix result_of(const ProductBlock& block, uint32_t core, const Matrix& product) const {
    const uint32_t width = of_result(block.columns);
    if (!converts()) return columns_of(product, 0, width);
    return converted_.of(slot(blocks_, core), product.rows, width).as(what_.out);
  }
  // Loads the block's operands.
  void load(uint32_t channel, const ProductBlock& block);
  // Issues the operations on a core's tile of the product, after `ready`.
  void compute(const ProductBlock& block, uint32_t core, const Matrix& product, Events ready, const Landing& to);
  Events finished(uint32_t core) const { return finished_.of(core); }
  void next(const ProductBlock& b) {
    blocks_.next(b.cores == cores_);
    if (rotated(b) > 0) rotations_.next(b.cores == cores_);
    if (has_bias()) bias_free_.next(b.cores);
  }

 private:
  bool has_bias() const { return what_.bias != 0; }
  bool has_residual() const { return what_.residual != 0; }
  bool converts() const { return what_.out != hal::ElementType::kNone; }
  // Rotated columns of a block.
  uint32_t rotated(const ProductBlock& b) const {
    return b.column < what_.rotated ? min(b.columns, what_.rotated - b.column) : 0;
  }
  uint32_t operations() const {
    return (has_bias() ? 1 : 0) + (what_.rotated > 0 ? 1 : 0) + what_.is_activated + (has_residual() ? 1 : 0) +
           (converts() ? 1 : 0);
  }
  uint32_t rows_of(const ProductBlock& b, uint32_t core) const { return min(t_.nq, m_ - b.row - core * t_.nq); }
  uint32_t slot(const Turns& turns, uint32_t core) const { return turns.of(core, least_) % 2 * cores_ + core; }

  Runtime& rt_;
  hal::FusedProduct what_;
  GemmTiling t_;
  bool panels_;
  uint32_t cores_, least_, m_, n_;
  Turns blocks_, rotations_;  // blocks; those with rotated columns
  Buffers bias_, residual_, angles_, converted_;
  SharedSlots bias_free_;
  Events bias_ready_, residual_ready_, residual_free_, angles_ready_, angles_free_, finished_;
};

// Stores of a matrix product's last columns into a KV cache (hal::CachedColumns). Heads of a token are apart in the
// cache. A copy moves the heads of a token, or the tokens of a head in a tile, whichever takes fewer copies. Single
// tokens of several sequences take one copy, with a plane for each.

class CacheRows {
 public:
  // `what` of zeros: no cache.
  CacheRows(Runtime& rt, const hal::CachedColumns& what, uint32_t columns)
      : what_(what), width_(what.heads * what.elements), kept_(columns - 2 * width_) {
    if (any()) tokens_ = rt.layer().seq_q / what.sequences;
  }

  bool any() const { return what_.sequences > 0; }
  // Columns of the product that stay in its result.
  uint32_t kept() const { return kept_; }
  uint32_t grain() const { return any() ? what_.elements : 1; }

  // Calls `issue` with each copy of a tile, whose first row and column in the product are given.
  template <typename Issue>
  void store(const Matrix& tile, uint32_t row, uint32_t column, const Issue& issue) const {
    for (uint32_t tensor = 0; any() && tensor < 2; ++tensor) {
      const uint32_t begin = kept_ + tensor * width_;
      const uint32_t first = max(column, begin), end = min(column + tile.columns, begin + width_);
      if (first >= end) continue;
      const Matrix part = columns_of(tile, first - column, end - first);
      store_heads(part, row, tensor == 0 ? what_.k : what_.v, (first - begin) / what_.elements, issue);
    }
  }

 private:
  // Columns of heads from `head` on, of K or V.
  template <typename Issue>
  void store_heads(const Matrix& part, uint32_t row, uint64_t cache, uint32_t head, const Issue& issue) const {
    const uint32_t bytes = what_.elements * hal::element_bytes(part.type), heads = part.columns / what_.elements;
    const uint32_t of_head = what_.context * bytes;
    const auto place_of = [&](uint32_t of_row, uint32_t of_head_number) {
      const uint32_t sequence = of_row / tokens_, token = of_row % tokens_;
      return cache + (uint64_t{sequence} * what_.heads + of_head_number) * of_head +
             uint64_t{what_.context - tokens_ + token} * bytes;
    };
    for (uint32_t done = 0; done < part.rows;) {
      const uint32_t rows = min(tokens_ - (row + done) % tokens_, part.rows - done);
      const Matrix here = rows_of(part, done, rows);
      if (rows > heads) {
        for (uint32_t h = 0; h < heads; ++h) {
          const Matrix of_one = columns_of(here, h * what_.elements, what_.elements);
          issue(copy(of_one, {place_of(row + done, head + h), rows, what_.elements, bytes, part.type}));
        }
        done += rows;
        continue;
      }
      const uint32_t planes = tokens_ == 1 ? part.rows : 1;
      Command command = copy({here.address, heads, what_.elements, bytes, part.type},
                             {place_of(row + done, head), heads, what_.elements, of_head, part.type});
      if (planes > 1) command.planes(planes, part.stride, what_.heads * of_head);
      issue(command);
      done += planes;
    }
  }

  hal::CachedColumns what_;
  uint32_t width_, kept_, tokens_ = 1;  // columns of K; of a sequence
};

}  // namespace attnvp::firmware
