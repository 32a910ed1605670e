// Values of a MAC array: FP16 operands, FP32 accumulation, FP16 or FP32 results.
//
// Each output starts from its partial sum (or +0). It adds a[i][k] * b[k][j] for k = 0, 1, 2, ... with one FP32
// rounding per addition. The product of two halves is exact in FP32. Splitting a product along k into calls with FP32
// partials, or along m and n, therefore gives the same bits. NaN results are canonical (0x7E00, or 0x7FC00000 for
// partials).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "firmware/hal/descriptor.h"
#include "models/arith/half.h"

namespace attnvp::arith {

// Scratch memory of the kernels. It only grows, so that a reused Workspace allocates nothing after its largest shape.
// One per thread.

template <typename T>
class ScratchBuffer {
 public:
  // Contents are undefined; the pointer is valid until the next call with a larger n.
  T* get(std::size_t n) {
    if (n > size_) {
      data_.reset(static_cast<T*>(::operator new(n * sizeof(T), kAlign)));
      size_ = n;
    }
    return data_.get();
  }

 private:
  static constexpr std::align_val_t kAlign{64};
  struct BufferDeleter {
    void operator()(T* p) const { ::operator delete(p, kAlign); }
  };
  std::unique_ptr<T, BufferDeleter> data_;
  std::size_t size_ = 0;
};

struct Workspace {
  ScratchBuffer<float> a;              // matmul: A in FP32
  ScratchBuffer<float> panel;          // matmul: one panel of B in FP32
  ScratchBuffer<float> row, exact;     // matmul of other types: a row of B; sums that are exact in FP32
  ScratchBuffer<std::uint32_t> terms;  // softmax: one row of exponentials
};

// Matrix in row-major order; row_stride in elements. A null pointer means "no matrix".
template <typename T>
struct MatrixView {
  T* data = nullptr;
  std::size_t row_stride = 0;
};

struct MatmulShape {
  std::size_t m = 0;  // rows of A and C
  std::size_t n = 0;  // columns of C
  std::size_t k = 0;
  bool b_transposed = false;  // B is stored as n rows of k: C = A * B^T
};

// C = partials + A * B. `partials` may be {} (zero) or c itself. A and B must not overlap C.
void matmul(const MatmulShape& shape, MatrixView<const Half> a, MatrixView<const Half> b,
            MatrixView<const float> partials, MatrixView<float> c, Workspace& workspace);
// The same, with sums rounded to FP16. A `scale` other than 1 multiplies the sums in FP32 before.
void matmul(const MatmulShape& shape, MatrixView<const Half> a, MatrixView<const Half> b,
            MatrixView<const float> partials, MatrixView<Half> c, Workspace& workspace, float scale = 1);

// Operands of other element types; both have the same type.
struct ElementMatrix {
  const unsigned char* data = nullptr;
  std::size_t row_stride = 0;  // bytes
  hal::ElementType type = hal::ElementType::kFp16;
};
// sums += A * B, in the order of k. FP32: product and addition are rounded once together, which equals the rule above
// for all types with exact products (all but BF16). INT32, for INT8: exact, modulo 2^32.
void add_products(const MatmulShape& shape, ElementMatrix a, ElementMatrix b, MatrixView<float> sums,
                  Workspace& workspace);
void add_products(const MatmulShape& shape, ElementMatrix a, ElementMatrix b, MatrixView<std::int32_t> sums,
                  Workspace& workspace);
// sums[i * stride] += sum of row i of A, in the same order.
void add_rows(const MatmulShape& shape, ElementMatrix a, float* sums, std::size_t stride);
void add_rows(const MatmulShape& shape, ElementMatrix a, std::int32_t* sums, std::size_t stride);

}  // namespace attnvp::arith
