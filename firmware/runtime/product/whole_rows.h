// Operand A of a product as whole rows in L1, for consecutive blocks of columns. A norm is applied in place before the
// first product.
#pragma once

#include "firmware/runtime/gemm.h"

namespace attnvp::firmware {

class WholeRows {
 public:
  // `slots`: row blocks that L1 holds.
  WholeRows(Runtime& rt, const hal::FusedProduct& what, const GemmTiling& tiling, uint32_t slots);

  // L1 space of the rows; their events; vectors of the norm, and its events.
  void make_rows();
  void make_events();
  void make_norm();

  uint32_t slots() const { return rows_.slots / cores_; }
  // Loads gamma and beta for the first `busy` cores.
  void load_vectors(uint32_t channel, uint32_t busy);
  // Loads the rows of a row block, and normalises them.
  void load(uint32_t channel, uint32_t row_block, uint32_t busy);
  Matrix of(uint32_t core, uint32_t rows) const { return slot(used_, core, rows); }
  // The core's product with these rows; the first and the last one of a row block.
  void use(Command& multiply, uint32_t core, bool is_first, bool is_last) const {
    if (is_first) multiply.after(has_norm() ? normalised_.of(core) : ready_.of(core));
    if (is_last) multiply.then(free_.of(core));
  }
  void next() { ++used_; }

 private:
  bool has_norm() const { return what_.gamma != 0; }
  Matrix slot(uint32_t row_block, uint32_t core, uint32_t rows) const {
    return rt_.in(rows_.of(row_block % slots() * cores_ + core, rows, k_));
  }

  Runtime& rt_;
  hal::FusedProduct what_;
  GemmTiling t_;
  uint32_t cores_, m_, k_, loaded_ = 0, used_ = 0;  // row blocks so far
  Buffers rows_;
  Matrix vectors_[2];  // gamma and beta in L1; 0 columns: none
  Events ready_, free_, vectors_ready_, normalised_;
};

}  // namespace attnvp::firmware
