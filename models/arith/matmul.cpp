#include "models/arith/matmul.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "models/arith/matmul_kernels.h"

namespace attnvp::arith {

KernelVariant current_variant() {
#ifdef ATTNVP_HAS_AVX2
  if (current_isa() >= Isa::kAvx2) return {pack_panel_avx2, run_panel_avx2};
#endif
  return {pack_panel_portable, run_panel_portable};
}

namespace {

void advance(PanelTask& task, float* c, std::size_t column) { task.c32 = c + column; }
void advance(PanelTask& task, Half* c, std::size_t column) { task.c16 = c + column; }

// Four columns; GCC and Clang support this type on every machine.
typedef float Vec4 __attribute__((vector_size(16)));

// The same with product and addition rounded once together, as in the vector variants.
void fuse_two_rows(const float* a0, const float* a1, const float* panel, std::size_t depth,
                   float (&sum)[2][kPanelColumns]) {
  for (std::size_t k = 0; k < depth; ++k) {
    for (std::size_t j = 0; j < kPanelColumns; ++j) {
      const float b = panel[k * kPanelColumns + j];
      sum[0][j] = std::fma(a0[k], b, sum[0][j]);
      sum[1][j] = std::fma(a1[k], b, sum[1][j]);
    }
  }
}

// Two rows by 16 columns over all of k; `sum` is input and output. The rows may be the same.
void multiply_two_rows(const float* a0, const float* a1, const float* panel, std::size_t depth,
                       float (&sum)[2][kPanelColumns]) {
  Vec4 s[2][4];
  std::memcpy(s, sum, sizeof(s));
  for (std::size_t k = 0; k < depth; ++k) {
    Vec4 b[4];
    std::memcpy(b, panel + k * kPanelColumns, sizeof(b));
    for (int j = 0; j < 4; ++j) {
      s[0][j] += a0[k] * b[j];
      s[1][j] += a1[k] * b[j];
    }
  }
  std::memcpy(sum, s, sizeof(s));
}

template <typename Out>
void run(const MatmulShape& shape, MatrixView<const Half> a, MatrixView<const Half> b, MatrixView<const float> partials,
         MatrixView<Out> c, Workspace& workspace, float scale = 1) {
  const KernelVariant variant = current_variant();
  float* const a32 = workspace.a.get(shape.m * shape.k);
  float* const panel = workspace.panel.get(shape.k * kPanelColumns);
  if (a.row_stride == shape.k) {
    floats_from_halves(a.data, a32, shape.m * shape.k);
  } else {
    for (std::size_t i = 0; i < shape.m; ++i) {
      floats_from_halves(a.data + i * a.row_stride, a32 + i * shape.k, shape.k);
    }
  }
  PanelTask task;
  task.a = a32;
  task.panel = panel;
  task.m = shape.m;
  task.k = shape.k;
  task.partials_stride = partials.row_stride;
  task.c_stride = c.row_stride;
  task.scale = scale;
  for (std::size_t j = 0; j < shape.n; j += kPanelColumns) {
    task.columns = std::min(kPanelColumns, shape.n - j);
    const Half* columns = b.data + (shape.b_transposed ? j * b.row_stride : j);
    variant.pack_panel({columns, b.row_stride, shape.b_transposed, shape.k, task.columns}, panel);
    task.partials = partials.data != nullptr ? partials.data + j : nullptr;
    advance(task, c.data, j);
    variant.run_panel(task);
  }
}

}  // namespace

void pack_panel_portable(const PanelSource& source, float* panel) {
  std::fill(panel, panel + source.k * kPanelColumns, 0.0F);
  const std::size_t k_step = source.transposed ? 1 : source.row_stride;
  const std::size_t column_step = source.transposed ? source.row_stride : 1;
  for (std::size_t k = 0; k < source.k; ++k) {
    for (std::size_t j = 0; j < source.columns; ++j) {
      panel[k * kPanelColumns + j] = float_from_half(source.data[k * k_step + j * column_step]);
    }
  }
}

void run_panel_portable(const PanelTask& task) {
  for (std::size_t i = 0; i < task.m; i += 2) {
    const std::size_t rows = std::min<std::size_t>(2, task.m - i);
    float sum[2][kPanelColumns] = {};
    for (std::size_t r = 0; r < rows && task.partials != nullptr; ++r) {
      std::copy_n(task.partials + (i + r) * task.partials_stride, task.columns, sum[r]);
    }
    const float* a = task.a + i * task.k;
    (task.fused ? fuse_two_rows : multiply_two_rows)(a, a + (rows - 1) * task.k, task.panel, task.k, sum);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t j = 0; j < task.columns; ++j) {
        const float value = std::isnan(sum[r][j]) ? std::numeric_limits<float>::quiet_NaN() : sum[r][j];
        const std::size_t at = (i + r) * task.c_stride + j;
        if (task.c32 != nullptr) {
          task.c32[at] = value;
        } else {
          task.c16[at] = half_from_float(value * task.scale);
        }
      }
    }
  }
}

void matmul(const MatmulShape& shape, MatrixView<const Half> a, MatrixView<const Half> b,
            MatrixView<const float> partials, MatrixView<float> c, Workspace& workspace) {
  run(shape, a, b, partials, c, workspace);
}

void matmul(const MatmulShape& shape, MatrixView<const Half> a, MatrixView<const Half> b,
            MatrixView<const float> partials, MatrixView<Half> c, Workspace& workspace, float scale) {
  run(shape, a, b, partials, c, workspace, scale);
}

}  // namespace attnvp::arith
