// Internal to matmul: variants of its inner steps. B is used in panels of 16 columns, converted to FP32 and stored as
// [k][16], with missing columns zero. Vectors therefore run over outputs, never over k.
#pragma once

#include <cstddef>

#include "models/arith/half.h"
#include "models/arith/isa.h"

namespace attnvp::arith {

inline constexpr std::size_t kPanelColumns = 16;

// Columns of B in a panel: columns x k halves if transposed, otherwise k x columns.
struct PanelSource {
  const Half* data = nullptr;
  std::size_t row_stride = 0;
  bool transposed = false;
  std::size_t k = 0;
  std::size_t columns = 0;
};

// All rows of C for the columns of one panel.
struct PanelTask {
  const float* a = nullptr;  // m x k, dense
  const float* panel = nullptr;
  std::size_t m = 0;
  std::size_t k = 0;
  std::size_t columns = 0;
  const float* partials = nullptr;  // may be null
  std::size_t partials_stride = 0;
  float* c32 = nullptr;  // either c32 or c16
  Half* c16 = nullptr;
  std::size_t c_stride = 0;
  float scale = 1;     // multiplies results in c16, with one more rounding
  bool fused = false;  // products may need more than 24 bits, or exponents outside FP32
};

void pack_panel_portable(const PanelSource& source, float* panel);
void run_panel_portable(const PanelTask& task);

#ifdef ATTNVP_HAS_AVX2
void pack_panel_avx2(const PanelSource& source, float* panel);
void run_panel_avx2(const PanelTask& task);
#endif

struct KernelVariant {
  void (*pack_panel)(const PanelSource&, float*);
  void (*run_panel)(const PanelTask&);
};
KernelVariant current_variant();

}  // namespace attnvp::arith
