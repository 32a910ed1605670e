// Internal to matmul: the variants of its two inner steps. B is used in panels of 16 columns, converted to
// FP32 and stored [k][16] (missing columns are zero), so that vectors run over outputs and never over k.
#pragma once

#include <cstddef>

#include "models/arith/half.h"
#include "models/arith/isa.h"

namespace attnvp::arith {

inline constexpr std::size_t kPanelColumns = 16;

// The columns of B a panel holds: columns x k halves if transposed, else k x columns.
struct PanelSource {
  const Half* data = nullptr;
  std::size_t row_stride = 0;
  bool transposed = false;
  std::size_t k = 0;
  std::size_t columns = 0;
};

// All rows of C for one panel's columns.
struct PanelTask {
  const float* a = nullptr;  // m x k, dense
  const float* panel = nullptr;
  std::size_t m = 0;
  std::size_t k = 0;
  std::size_t columns = 0;
  const float* partials = nullptr;  // may be null
  std::size_t partials_stride = 0;
  float* c32 = nullptr;  // one of the two
  Half* c16 = nullptr;
  std::size_t c_stride = 0;
  float scale = 1;     // of what c16 gets, rounded once more
  bool fused = false;  // products may need more than 24 bits, or exponents beyond FP32's
};

void pack_panel_portable(const PanelSource& source, float* panel);
void run_panel_portable(const PanelTask& task);

#ifdef ATTNVP_HAS_AVX2
void pack_panel_avx2(const PanelSource& source, float* panel);
void run_panel_avx2(const PanelTask& task);
#endif

struct Variant {
  void (*pack_panel)(const PanelSource&, float*);
  void (*run_panel)(const PanelTask&);
};
Variant current_variant();

}  // namespace attnvp::arith
