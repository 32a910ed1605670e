#include "models/arith/matmul_kernels.h"

#ifdef ATTNVP_HAS_AVX2

#include <immintrin.h>

#include <cstdint>
#include <cstring>

namespace attnvp::arith {
namespace {

constexpr int kRows = 6;  // 6 x 16 sums take 12 of the 16 vector registers

ATTNVP_AVX2 inline __m128i load_halves(const Half* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }

// Transposes eight rows of eight halves and stores them as FP32 to eight rows of a panel.
ATTNVP_AVX2 inline void transpose_block(const Half* in, std::size_t stride, float* out) {
  __m128i pair[8], quad[8];
  for (std::size_t i = 0; i < 4; ++i) {
    const __m128i low = load_halves(in + 2 * i * stride), high = load_halves(in + (2 * i + 1) * stride);
    pair[i] = _mm_unpacklo_epi16(low, high);  // k 0..3 of rows 2i, 2i+1
    pair[i + 4] = _mm_unpackhi_epi16(low, high);
  }
  for (int i = 0; i < 4; ++i) {  // quad[4h+q]: k 2q, 2q+1 of rows 4h .. 4h+3
    const int p = (i & 1) * 2 + (i >> 1) * 4;
    const int q = (i & 1) * 4 + (i >> 1) * 2;
    quad[q] = _mm_unpacklo_epi32(pair[p], pair[p + 1]);
    quad[q + 1] = _mm_unpackhi_epi32(pair[p], pair[p + 1]);
  }
  for (std::size_t q = 0; q < 4; ++q) {
    const __m128i even = _mm_unpacklo_epi64(quad[q], quad[q + 4]);
    const __m128i odd = _mm_unpackhi_epi64(quad[q], quad[q + 4]);
    _mm256_storeu_ps(out + 2 * q * kPanelColumns, _mm256_cvtph_ps(even));
    _mm256_storeu_ps(out + (2 * q + 1) * kPanelColumns, _mm256_cvtph_ps(odd));
  }
}

ATTNVP_AVX2 void pack_transposed(const PanelSource& source, float* panel) {
  std::size_t whole = 0;  // columns done in blocks of eight, up to k_blocks
  const std::size_t k_blocks = source.k & ~std::size_t{7};
  for (; whole + 8 <= source.columns; whole += 8) {
    const Half* rows = source.data + whole * source.row_stride;
    for (std::size_t k = 0; k < k_blocks; k += 8) {
      transpose_block(rows + k, source.row_stride, panel + k * kPanelColumns + whole);
    }
  }
  for (std::size_t j = 0; j < kPanelColumns; ++j) {
    const Half* row = source.data + j * source.row_stride;
    for (std::size_t k = j < whole ? k_blocks : 0; k < source.k; ++k) {
      panel[k * kPanelColumns + j] = j < source.columns ? _cvtsh_ss(row[k]) : 0.0F;
    }
  }
}

// A block of R rows by 16 columns over all of k; tile[R][16] is input and output. Without the pragmas GCC 12 unrolls
// too late to keep the sums in registers, and stores them for every k.
template <int R>
ATTNVP_AVX2 inline void multiply_rows(const float* a, const float* panel, std::size_t depth, float* tile) {
  __m256 sum[R][2];
#pragma GCC unroll 6
  for (int r = 0; r < R; ++r) {
    sum[r][0] = _mm256_load_ps(tile + r * kPanelColumns);
    sum[r][1] = _mm256_load_ps(tile + r * kPanelColumns + 8);
  }
  for (std::size_t k = 0; k < depth; ++k) {
    const __m256 b0 = _mm256_load_ps(panel + k * kPanelColumns);
    const __m256 b1 = _mm256_load_ps(panel + k * kPanelColumns + 8);
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r) {
      const __m256 value = _mm256_broadcast_ss(a + static_cast<std::size_t>(r) * depth + k);
      // The product is exact, so that the fused operation equals a multiplication and an addition.
      sum[r][0] = _mm256_fmadd_ps(value, b0, sum[r][0]);
      sum[r][1] = _mm256_fmadd_ps(value, b1, sum[r][1]);
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < R; ++r) {
    _mm256_store_ps(tile + r * kPanelColumns, sum[r][0]);
    _mm256_store_ps(tile + r * kPanelColumns + 8, sum[r][1]);
  }
}

ATTNVP_AVX2 inline __m256 canonical(__m256 x) {
  const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FC00000));
  return _mm256_blendv_ps(x, nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}

ATTNVP_AVX2 inline void store_row(const PanelTask& task, std::size_t row, const float* sums) {
  const __m256 low = canonical(_mm256_load_ps(sums)), high = canonical(_mm256_load_ps(sums + 8));
  alignas(32) float ragged[kPanelColumns];
  const bool whole = task.columns == kPanelColumns;
  if (task.c32 != nullptr) {
    float* c = task.c32 + row * task.c_stride;
    float* out = whole ? c : ragged;
    _mm256_storeu_ps(out, low);
    _mm256_storeu_ps(out + 8, high);
    if (!whole) std::memcpy(c, ragged, task.columns * sizeof(float));
    return;
  }
  Half* c = task.c16 + row * task.c_stride;
  const __m256 scale = _mm256_set1_ps(task.scale);
  const __m256i halves = _mm256_set_m128i(_mm256_cvtps_ph(_mm256_mul_ps(high, scale), _MM_FROUND_TO_NEAREST_INT),
                                          _mm256_cvtps_ph(_mm256_mul_ps(low, scale), _MM_FROUND_TO_NEAREST_INT));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(whole ? static_cast<void*>(c) : ragged), halves);
  if (!whole) std::memcpy(c, ragged, task.columns * sizeof(Half));
}

template <int R>
ATTNVP_AVX2 void run_rows(const PanelTask& task, std::size_t row) {
  alignas(32) float tile[R * kPanelColumns] = {};
  if (task.partials != nullptr) {
    for (int r = 0; r < R; ++r) {
      const float* from = task.partials + (row + static_cast<std::size_t>(r)) * task.partials_stride;
      std::memcpy(tile + r * kPanelColumns, from, task.columns * sizeof(float));
    }
  }
  multiply_rows<R>(task.a + row * task.k, task.panel, task.k, tile);
  for (int r = 0; r < R; ++r) store_row(task, row + static_cast<std::size_t>(r), tile + r * kPanelColumns);
}

}  // namespace

ATTNVP_AVX2 void pack_panel_avx2(const PanelSource& source, float* panel) {
  if (source.transposed) return pack_transposed(source, panel);
  for (std::size_t k = 0; k < source.k; ++k) {
    const Half* row = source.data + k * source.row_stride;
    Half ragged[kPanelColumns] = {};
    if (source.columns < kPanelColumns) {
      std::memcpy(ragged, row, source.columns * sizeof(Half));
      row = ragged;
    }
    _mm256_store_ps(panel + k * kPanelColumns, _mm256_cvtph_ps(load_halves(row)));
    _mm256_store_ps(panel + k * kPanelColumns + 8, _mm256_cvtph_ps(load_halves(row + 8)));
  }
}

ATTNVP_AVX2 void run_panel_avx2(const PanelTask& task) {
  std::size_t row = 0;
  for (; row + kRows <= task.m; row += kRows) run_rows<kRows>(task, row);
  switch (task.m - row) {
    case 5:
      return run_rows<5>(task, row);
    case 4:
      return run_rows<4>(task, row);
    case 3:
      return run_rows<3>(task, row);
    case 2:
      return run_rows<2>(task, row);
    case 1:
      return run_rows<1>(task, row);
    default:
      return;
  }
}

}  // namespace attnvp::arith

#endif
