// Matrix products of the golden reference. All variants return the same bits, as products are exact.
#include <algorithm>

#include "models/arith/isa.h"
#include "platform/run/golden/golden_kernels.h"

#ifdef ATTNVP_HAS_AVX2
#include <immintrin.h>
#endif

namespace attnvp::job {
namespace {

constexpr std::size_t kPanel = 8;  // columns

// kRows rows times the columns of a panel.
template <std::size_t kRows, typename T>
void tile_portable(const T* a, std::size_t stride, const T* panel, std::size_t depth, T* c, std::size_t c_stride) {
  T sum[kRows][kPanel] = {};
  for (std::size_t k = 0; k < depth; ++k) {
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t j = 0; j < kPanel; ++j) sum[r][j] += a[r * stride + k] * panel[k * kPanel + j];
    }
  }
  for (std::size_t r = 0; r < kRows; ++r) std::copy(sum[r], sum[r] + kPanel, c + r * c_stride);
}

template <typename T>
void multiply_portable(const T* a, std::size_t rows, std::size_t stride, const Panels<T>& b, T* c) {
  for (std::size_t j = 0; j < b.columns(); j += kPanel) {
    const T* panel = b.data() + j * b.depth();
    std::size_t i = 0;
    for (; i + 4 <= rows; i += 4)
      tile_portable<4>(a + i * stride, stride, panel, b.depth(), c + i * b.columns() + j, b.columns());
    for (; i < rows; ++i)
      tile_portable<1>(a + i * stride, stride, panel, b.depth(), c + i * b.columns() + j, b.columns());
  }
}

#ifdef ATTNVP_HAS_AVX2
ATTNVP_AVX2 inline __m256d load_one(const double* from) { return _mm256_loadu_pd(from); }
ATTNVP_AVX2 inline __m256 load_one(const float* from) { return _mm256_loadu_ps(from); }
ATTNVP_AVX2 inline __m256d each(const double* from) { return _mm256_broadcast_sd(from); }
ATTNVP_AVX2 inline __m256 each(const float* from) { return _mm256_broadcast_ss(from); }
ATTNVP_AVX2 inline void store_one(double* to, __m256d x) { _mm256_storeu_pd(to, x); }
ATTNVP_AVX2 inline void store_one(float* to, __m256 x) { _mm256_storeu_ps(to, x); }
ATTNVP_AVX2 inline __m256d fused(__m256d x, __m256d y, __m256d z) { return _mm256_fmadd_pd(x, y, z); }
ATTNVP_AVX2 inline __m256 fused(__m256 x, __m256 y, __m256 z) { return _mm256_fmadd_ps(x, y, z); }

template <std::size_t kRows, typename T>
ATTNVP_AVX2 inline void tile_avx2(const T* a, std::size_t stride, const T* panel, std::size_t depth, T* c,
                                  std::size_t c_stride) {
  using Vector = decltype(load_one(a));
  constexpr std::size_t kWide = sizeof(Vector) / sizeof(T), kVectors = kPanel / kWide;
  Vector sum[kRows][kVectors] = {};
  for (std::size_t k = 0; k < depth; ++k) {
    Vector b[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) b[v] = load_one(panel + k * kPanel + v * kWide);
#pragma GCC unroll 8
    for (std::size_t r = 0; r < kRows; ++r) {
      const Vector x = each(a + r * stride + k);
#pragma GCC unroll 2
      for (std::size_t v = 0; v < kVectors; ++v) sum[r][v] = fused(x, b[v], sum[r][v]);
    }
  }
#pragma GCC unroll 8
  for (std::size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (std::size_t v = 0; v < kVectors; ++v) store_one(c + r * c_stride + v * kWide, sum[r][v]);
  }
}

// Columns from `from`.
template <typename T>
ATTNVP_AVX2 void multiply_avx2(const T* a, std::size_t rows, std::size_t stride, const Panels<T>& b, T* c,
                               std::size_t from) {
  constexpr std::size_t kMost = sizeof(T) == 8 ? 6 : 8;  // enough independent sums to hide latency
  for (std::size_t j = from; j < b.columns(); j += kPanel) {
    const T* panel = b.data() + j * b.depth();
    std::size_t i = 0;
    for (; i + kMost <= rows; i += kMost)
      tile_avx2<kMost>(a + i * stride, stride, panel, b.depth(), c + i * b.columns() + j, b.columns());
    for (; i + 4 <= rows; i += 4)
      tile_avx2<4>(a + i * stride, stride, panel, b.depth(), c + i * b.columns() + j, b.columns());
    for (; i < rows; ++i) tile_avx2<1>(a + i * stride, stride, panel, b.depth(), c + i * b.columns() + j, b.columns());
  }
}

// Columns of two panels in registers.
struct Doubles16 {
  __m512d low, high;
};
ATTNVP_AVX512 inline Doubles16 load_two(const double* left, const double* right) {
  return {_mm512_loadu_pd(left), _mm512_loadu_pd(right)};
}
ATTNVP_AVX512 inline __m512 load_two(const float* left, const float* right) {
  return _mm512_insertf32x8(_mm512_castps256_ps512(_mm256_loadu_ps(left)), _mm256_loadu_ps(right), 1);
}
ATTNVP_AVX512 inline void store_two(double* to, const Doubles16& x) {
  _mm512_storeu_pd(to, x.low);
  _mm512_storeu_pd(to + kPanel, x.high);
}
ATTNVP_AVX512 inline void store_two(float* to, __m512 x) { _mm512_storeu_ps(to, x); }
ATTNVP_AVX512 inline void add_product(double x, const Doubles16& y, Doubles16& sum) {
  const __m512d factor = _mm512_set1_pd(x);
  sum.low = _mm512_fmadd_pd(factor, y.low, sum.low);
  sum.high = _mm512_fmadd_pd(factor, y.high, sum.high);
}
ATTNVP_AVX512 inline void add_product(float x, __m512 y, __m512& sum) {
  sum = _mm512_fmadd_ps(_mm512_set1_ps(x), y, sum);
}

constexpr std::size_t kWideRows = 8;
constexpr std::size_t kWideDepth = 128;  // depth of a pass; data that are read again stay in the L1 cache

// Adds kWideRows rows times the columns of two panels to c.
template <typename T>
ATTNVP_AVX512 inline void tile_avx512(const T* a, std::size_t stride, const T* left, const T* right, std::size_t depth,
                                      T* c, std::size_t c_stride) {
  decltype(load_two(left, right)) sum[kWideRows];
#pragma GCC unroll 8
  for (std::size_t r = 0; r < kWideRows; ++r) sum[r] = load_two(c + r * c_stride, c + r * c_stride + kPanel);
  for (std::size_t k = 0; k < depth; ++k) {
    const auto b = load_two(left + k * kPanel, right + k * kPanel);
#pragma GCC unroll 8
    for (std::size_t r = 0; r < kWideRows; ++r) add_product(a[r * stride + k], b, sum[r]);
  }
#pragma GCC unroll 8
  for (std::size_t r = 0; r < kWideRows; ++r) store_two(c + r * c_stride, sum[r]);
}

// First whole tiles, then the remaining rows and columns.
template <typename T>
ATTNVP_AVX512 void multiply_avx512(const T* a, std::size_t rows, std::size_t stride, const Panels<T>& b, T* c) {
  const std::size_t whole_rows = rows / kWideRows * kWideRows;
  const std::size_t whole_columns = b.columns() / (2 * kPanel) * (2 * kPanel);
  std::fill(c, c + whole_rows * b.columns(), T{0});
  for (std::size_t k = 0; k < b.depth(); k += kWideDepth) {
    const std::size_t depth = std::min(kWideDepth, b.depth() - k);
    for (std::size_t j = 0; j < whole_columns; j += 2 * kPanel) {
      const T *left = b.data() + j * b.depth() + k * kPanel, *right = left + kPanel * b.depth();
      for (std::size_t i = 0; i < whole_rows; i += kWideRows)
        tile_avx512(a + i * stride + k, stride, left, right, depth, c + i * b.columns() + j, b.columns());
    }
  }
  multiply_avx2(a, whole_rows, stride, b, c, whole_columns);
  multiply_avx2(a + whole_rows * stride, rows - whole_rows, stride, b, c + whole_rows * b.columns(), 0);
}
#endif

template <typename T>
void multiply_any(const T* a, std::size_t rows, std::size_t stride, const Panels<T>& b, T* c) {
#ifdef ATTNVP_HAS_AVX2
  if (arith::current_isa() == arith::Isa::kAvx512) return multiply_avx512(a, rows, stride, b, c);
  if (arith::current_isa() == arith::Isa::kAvx2) return multiply_avx2(a, rows, stride, b, c, 0);
#endif
  multiply_portable(a, rows, stride, b, c);
}

}  // namespace

void multiply(const double* a, std::size_t rows, std::size_t stride, const Panels<double>& b, double* c) {
  multiply_any(a, rows, stride, b, c);
}

void multiply(const float* a, std::size_t rows, std::size_t stride, const Panels<float>& b, float* c) {
  multiply_any(a, rows, stride, b, c);
}

}  // namespace attnvp::job
