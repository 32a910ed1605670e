#include "models/arith/matmul.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "models/arith/matmul_kernels.h"
#include "models/arith/number.h"

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

namespace {

// Number of products of INT8, of at most 127^2 each, whose sum FP32 holds exactly.
constexpr std::size_t kExactDepth = 1024;

struct Depth {  // range of k: [from, from + count)
  std::size_t from, count;
};

// Products of operands converted to FP32, by the kernels of matmul.cpp.
class Products {
 public:
  Products(const MatmulShape& shape, const ElementMatrix& a, const ElementMatrix& b, Workspace& workspace)
      : shape_(shape), a_(a), b_(b), workspace_(workspace), bytes_(hal::element_bytes(a.type)) {}

  void add(const Depth& depth, MatrixView<float> sums) {
    float* const a = workspace_.a.get(shape_.m * depth.count);
    for (std::size_t i = 0; i < shape_.m; ++i) {
      floats_from(a_.type, a_.data + i * a_.row_stride + depth.from * bytes_, a + i * depth.count, depth.count);
    }
    float* const panel = workspace_.panel.get(depth.count * kPanelColumns);
    PanelTask task;
    task.a = a;
    task.panel = panel;
    task.m = shape_.m;
    task.k = depth.count;
    task.partials_stride = task.c_stride = sums.row_stride;
    task.fused = a_.type == ElementType::kBf16;
    for (std::size_t j = 0; j < shape_.n; j += kPanelColumns) {
      task.columns = std::min(kPanelColumns, shape_.n - j);
      pack(depth, j, task.columns, panel);
      task.partials = task.c32 = sums.data + j;
      current_variant().run_panel(task);
    }
  }

 private:
  void pack(const Depth& depth, std::size_t column, std::size_t columns, float* panel) {
    float* const row = workspace_.row.get(std::max(depth.count, kPanelColumns));
    std::fill(panel, panel + depth.count * kPanelColumns, 0.0F);
    if (shape_.b_transposed) {
      for (std::size_t j = 0; j < columns; ++j) {
        floats_from(b_.type, b_.data + (column + j) * b_.row_stride + depth.from * bytes_, row, depth.count);
        for (std::size_t k = 0; k < depth.count; ++k) panel[k * kPanelColumns + j] = row[k];
      }
      return;
    }
    for (std::size_t k = 0; k < depth.count; ++k) {
      floats_from(b_.type, b_.data + (depth.from + k) * b_.row_stride + column * bytes_, panel + k * kPanelColumns,
                  columns);
    }
  }

  const MatmulShape& shape_;
  const ElementMatrix &a_, &b_;
  Workspace& workspace_;
  std::size_t bytes_;
};

template <typename Sum>
void add_rows_of(const MatmulShape& shape, const ElementMatrix& a, Sum* sums, std::size_t stride) {
  std::vector<float> row(shape.k);
  for (std::size_t i = 0; i < shape.m; ++i) {
    floats_from(a.type, a.data + i * a.row_stride, row.data(), shape.k);
    Sum sum = sums[i * stride];
    for (const float x : row) sum += static_cast<Sum>(x);
    sums[i * stride] = sum;
  }
}

}  // namespace

void add_products(const MatmulShape& shape, ElementMatrix a, ElementMatrix b, MatrixView<float> sums,
                  Workspace& workspace) {
  Products(shape, a, b, workspace).add({0, shape.k}, sums);
}

void add_products(const MatmulShape& shape, ElementMatrix a, ElementMatrix b, MatrixView<std::int32_t> sums,
                  Workspace& workspace) {
  Products products(shape, a, b, workspace);
  for (std::size_t k = 0; k < shape.k; k += kExactDepth) {
    float* const exact = workspace.exact.get(shape.m * shape.n);
    std::fill(exact, exact + shape.m * shape.n, 0.0F);
    products.add({k, std::min(kExactDepth, shape.k - k)}, {exact, shape.n});
    for (std::size_t i = 0; i < shape.m; ++i) {
      for (std::size_t j = 0; j < shape.n; ++j) {
        std::int32_t& sum = sums.data[i * sums.row_stride + j];
        sum = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) +
                                        static_cast<std::uint32_t>(static_cast<std::int32_t>(exact[i * shape.n + j])));
      }
    }
  }
}

void add_rows(const MatmulShape& shape, ElementMatrix a, float* sums, std::size_t stride) {
  add_rows_of(shape, a, sums, stride);
}

void add_rows(const MatmulShape& shape, ElementMatrix a, std::int32_t* sums, std::size_t stride) {
  add_rows_of(shape, a, sums, stride);
}

}  // namespace attnvp::arith
