// The values a MAC array produces: FP16 operands, FP32 accumulation, FP16 or FP32 results.
//
// Each output starts from its partial (or +0) and adds a[i][k] * b[k][j] for k = 0, 1, 2, ... with one FP32
// rounding per addition; the product of two halves is exact in FP32. A matmul cut along k into calls that
// hand FP32 partials on is therefore the same, bit for bit, as one call, and so are all cuts along m and n.
// NaN results are canonical (0x7E00, or 0x7FC00000 for partials).
#pragma once

#include <cstddef>
#include <cstdint>

#include "firmware/hal/descriptor.h"
#include "models/arith/half.h"
#include "models/arith/workspace.h"

namespace attnvp::arith {

// A matrix in row-major order; row_stride counts elements. A null pointer means "no matrix".
template <typename T>
struct Matrix {
  T* data = nullptr;
  std::size_t row_stride = 0;
};

struct MatmulShape {
  std::size_t m = 0;  // rows of A and C
  std::size_t n = 0;  // columns of C
  std::size_t k = 0;
  bool b_transposed = false;  // B is stored as n rows of k: C = A * B^T
};

// C = partials + A * B. `partials` may be {} (zero) or the very matrix c (accumulate in place).
// A and B must not overlap C.
void matmul(const MatmulShape& shape, Matrix<const Half> a, Matrix<const Half> b, Matrix<const float> partials,
            Matrix<float> c, Workspace& workspace);
// The same, each sum rounded once more to FP16; before that multiplied with `scale` in FP32, where that is not 1.
void matmul(const MatmulShape& shape, Matrix<const Half> a, Matrix<const Half> b, Matrix<const float> partials,
            Matrix<Half> c, Workspace& workspace, float scale = 1);

// Operands of other element types, both of the same.
struct Elements {
  const unsigned char* data = nullptr;
  std::size_t row_stride = 0;  // bytes
  hal::ElementType type = hal::ElementType::kFp16;
};
// sums += A * B, in the order of k. FP32: every product and addition rounds once together, which is the rule above
// where products are exact, as those of all types but BF16 are. INT32, of INT8: exact, modulo 2^32.
void add_products(const MatmulShape& shape, Elements a, Elements b, Matrix<float> sums, Workspace& workspace);
void add_products(const MatmulShape& shape, Elements a, Elements b, Matrix<std::int32_t> sums, Workspace& workspace);
// sums[i * stride] += the sum of row i of A, likewise.
void add_rows(const MatmulShape& shape, Elements a, float* sums, std::size_t stride);
void add_rows(const MatmulShape& shape, Elements a, std::int32_t* sums, std::size_t stride);

}  // namespace attnvp::arith
