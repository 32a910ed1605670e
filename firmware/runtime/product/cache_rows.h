// Stores of a matrix product's last columns into a KV cache (hal::CachedColumns). Heads of a token are apart in the
// cache. A copy moves the heads of a token, or the tokens of a head in a tile, whichever takes fewer copies. Single
// tokens of several sequences take one copy, with a plane for each.
#pragma once

#include "firmware/runtime/gemm.h"

namespace attnvp::firmware {

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
