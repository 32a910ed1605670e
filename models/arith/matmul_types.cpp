#include <algorithm>
#include <vector>

#include "models/arith/matmul.h"
#include "models/arith/matmul_kernels.h"
#include "models/arith/number.h"

namespace attnvp::arith {

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
