// Commands of one-pass softmax and the L1 layout of their operands.
//
// Sums: per query row E numerators, the denominator and two more words, all FP32. In running sums the two words hold
// the row's running maxima (FP16). In a tile's sums they are scales, and the second may hold the tile's maximum
// instead.
#pragma once

#include "firmware/runtime/runtime.h"

namespace attnvp::firmware {

struct Sums {
  uint64_t address = 0;
  uint32_t rows = 0;
  uint32_t emb = 0;

  static uint32_t stride(uint32_t emb) { return (emb + 3) * kPartialBytes; }
  static uint64_t bytes(uint32_t rows, uint32_t emb) { return uint64_t{rows} * stride(emb); }
  Matrix word(uint32_t index, uint32_t count = 1) const {
    return {address + uint64_t{index} * kPartialBytes, rows, count, stride(emb), hal::ElementType::kFp32};
  }
  Matrix numerators() const { return word(0, emb); }
  Matrix all() const { return word(0, emb + 1); }  // including the denominator
  Matrix denominator() const { return word(emb); }
  Matrix scales() const { return word(emb + 1); }
  Matrix tile_maximum() const { return word(emb + 2).as(hal::ElementType::kFp16); }
  // Running maxima after tile j. A ring of four, because steps in flight need earlier ones.
  Matrix maximum(uint32_t j = 0) const {
    return {address + uint64_t{emb + 1} * kPartialBytes + uint64_t{j % 4} * kHalfBytes, rows, 1, stride(emb)};
  }
};

// Per row: M = max(before, m), and the scales of the accumulated sums [and of the addend].
Command online_max(const Matrix& m, const Matrix& before, const Matrix& scale, const Matrix& after, uint32_t flags);
// P = e^(S - M), where M is the updated running maximum. `tile` receives the denominator and the scale.
Command online_softmax(const Matrix& s, const Matrix& p, const Matrix& maximum, const Sums& tile, bool first);
// R = R * scale + T [* scale], including denominators.
Command scale_add(const Sums& running, const Sums& tile, uint32_t flags);
Command scale_add(const Sums& running, const Sums& tile, const Matrix& scale, uint32_t flags);
// R = R * e^(before - after), including denominators.
Command rescale(const Sums& running, const Matrix& before, const Matrix& after);
// O = numerators / denominator.
Command divide(const Sums& running, const Matrix& o);
// Adds the sinks of a head's rows from `row` on to a division; `maximum`: the rows' greatest scores.
void add_sinks(Runtime& rt, Command& divide, const Matrix& maximum, uint32_t head, uint32_t row, const hal::Mask& mask);
// S = Q.K^T stays in the array from tile `slot` on; only its row maxima are written.
Command score_tile(const Matrix& q, const Matrix& k, const Matrix& maxima, uint32_t slot);
// Sums of the tile, from S in the array and the running maxima.
Command attend_tile(const Matrix& maxima, const Matrix& v, const Sums& tile, uint32_t slot);
// Numerators of a tile = P.V
Command numerators(const Matrix& p, const Matrix& v, const Sums& tile, const L0Tile& l0);

}  // namespace attnvp::firmware
