// Golden reference softmax(scale Q K^T) V over the unmasked keys, in double precision, and the check of an FP16 output
// against it. The tolerance of each element is derived from the data.
//
// Computation of row i on the machine (u = 2^-24, FP32; h = 2^-11, FP16; both round to nearest):
//   1. Scores. Exact products, at most E additions in FP32, one rounding to FP16. With a_ij = |q_i| |k_j|
//      (2-norms) >= sum_e |q_ie k_je| and acc_ij = 1.01 E u a_ij, the score's error is at most
//        d_ij = acc_ij + h (|s_ij| + acc_ij) + 2^-25.
//      A scale other than 1 multiplies q and adds one FP32 rounding: E + 1 in all.
//   2. Softmax of the perturbed scores. Let P be the exact softmax and g_i = sum_j P_ij e^d_ij. The normaliser
//      moves by a factor within [1/g_i, g_i] (sum P e^-d >= 1 / sum P e^d, by Cauchy-Schwarz), hence
//        P_ij / (e^d_ij g_i) <= P'_ij <= P_ij e^d_ij g_i.
//   3. The VEC engine: relative error eps = kSoftmaxRelativeError, then one rounding to FP16. With
//      t_ij = P_ij e^d_ij g_i (1 + eps) the rounding costs at most min(t, max(h t, 2^-25)) (a value below
//      2^-25 becomes 0), so |P''_ij - P_ij| <= w_ij = t_ij - P_ij + min(t_ij, max(h t_ij, 2^-25)).
//   4. P V: exact products; adding a zero is exact, so the FP32 roundings are at most n_i = #{j: t_ij > 2^-25},
//      each relative to at most sum_j P''_ij |v_jd|: error <= 1.01 n_i u sum_j (P_ij + w_ij) |v_jd|.
//   5. One rounding of the result to FP16: h |.| + 2^-25.
// Together: T_id = sum_j (w_ij + 1.01 n_i u (P_ij + w_ij)) |v_jd|,
//           |O - O_ref| <= T_id + h (|O_ref| + T_id) + 2^-25.
// T_id is evaluated in FP32 and enlarged by more than that evaluation can lose. The bound holds for every order of
// additions and every tiling with FP32 partial sums.
//
// One pass (keys_per_tile > 0; models/arith/online.h): the T tiles of a row are processed once, and its sums are scaled
// when the running maximum changes. Let c_i be the possible changes in row i: tiles whose greatest score plus error
// exceeds the greatest earlier score minus error. Steps 3 and 4 become:
//   3. A weight is e^(S - M) against the running maximum M, times the scale of every later change. Fixed-point
//      maxima cancel between steps. Rounding of X counts once (2^-15), the table's error (kExpStepError)
//      1 + c_i times, in numerators and in the denominator. The denominator loses terms and scaled sums below
//      2^-40 each (n 2^-39) and is rounded 3 T + 1 times:
//        eps = 2 (2^-15 + (1 + c_i) kExpStepError) + n 2^-39 + (3 T + 1) u.
//      e^(S - M) is rounded to FP16 before scaling: at most max(h t, 2^-25 max_j t), as no scale exceeds 1.
//      Scales below 2^-40 are 0; they lose less than that.
//   4. FP32 roundings: min(n, keys_per_tile) for the sum of a tile; 3 T for two products and an addition
//      per tile, merges of partial results included; 1 for the division.
//
// Other element types (models/arith/number.h, platform/run/golden/tensors.h). Q, K and V are the rounded values that
// the machine holds, so their rounding adds no error. Rounding P to its type loses at most a relative part r, or z:
//   1. INT8: sums are exact; two FP32 roundings, of the sum and of its product with the head's factor.
//   3. P is rounded again: w_ij grows by max(r t, z); for one-byte P, z is relative to the row's greatest P.
//   4. One-byte P of whole rows: the stored a_ij is off by w_ij up to a factor that cancels, and its row sum by
//      W_i = sum_j w_ij. As O' - O = sum_j (a_ij - P_ij) (v_jd - O_id) / sum_j a_ij, the error is at most
//        T'_id = (T_id + W_i |O_id|) / (1 - W_i).
//      FP32 roundings: twice as many plus four (INT8: four); one pass: three more in place of INT8's sums.
//   5. h is that of the type of O.
//   6. A bias is added in FP32 after the scale: three more roundings, and 4 u of its magnitude.
//   7. Block scales: two more roundings of a score, of the factors and of the product with them. P.V has FP32 sums of
//      blocks: two roundings for each block of keys, and those of one pass.
//   8. A learned sink is one more key, whose score is exact and whose row of V is zero. In one pass it is one more
//   tile.
// A head's factor of V multiplies O and its bound. The slope of a soft-cap is at most 1, so it does not increase the
// error of a score; it adds one FP32 rounding.
//
// Wide rows: g_i^2 (1 + eps) > 1 + 2^-5, some d_ij > 100, or W_i > 1/4. There T exceeds the limits of probabilities,
// which are at most 1 and sum to 1. Before eps and the roundings, P' is the exact softmax of the machine's scores.
// Hence sum_j P'_ij v_jd is a mean of v_jd with weights between P_ij e^-d_ij (0 if the score may round to -inf) and
// P_ij e^d_ij. Let M_d and m_d be the greatest and least such means, N_d the greatest |v_jd|, and t_ij <= 1 + eps the
// greatest P'_ij that is then possible:
//   T_id = max(M_d - O_id, O_id - m_d) + L_d + 1.01 n_i u (N_d + L_d),
//   L_d = (eps + h (1 + eps)) N_d + sum_j min(t_ij, 2^-25) |v_jd|.
// In the greatest mean M, values above M have their greatest weights and the others their least; otherwise another mean
// would exceed M. M_d is found by Dinkelbach's method. Hence |O - O_ref| is at most the spread of the values of visible
// keys, plus roundings. One pass: the error of e^(S - M), 2^-15 + (1 + c_i) kExpStepError, affects numerators and
// denominator alike and is part of d_ij. One-byte P of whole rows: the rounding loss of P is also part of d_ij, and L_d
// is 0.
//
// Special values:
//   - Double precision decides where the result is no number. A score of NaN or +inf, or only -inf, makes the row
//     NaN. A visible non-finite value of V makes its column not finite (inf and NaN are both accepted).
//   - Any other result that is not finite fails. Rows with FP16 as the cause are counted: a score that may round to
//     an infinity (|s| >= 65520, less its error), where +inf or a row of -inf gives NaN; an output whose tolerance
//     reaches 65520. A single score of -inf is a valid probability of 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "firmware/hal/block_mask.h"
#include "firmware/hal/descriptor.h"
#include "firmware/hal/mask.h"
#include "models/arith/half.h"
#include "platform/workload/attention.h"

namespace attnvp::job {

// Factors of the scores and of O, for one head of K and V.
struct HeadFactors {
  float score = 1, value = 1;
};

// Q and O are [batch, heads, queries, width]; K and V are [batch, heads, keys, width]; row-major, dense.
struct AttentionShape {
  std::size_t batch = 1;
  std::size_t heads = 1;
  std::size_t queries = 0;
  std::size_t keys = 0;
  std::size_t width = 0;
  hal::Mask mask{};     // rows of a head repeat every mask.queries
  float scale = 1;      // of the scores
  bool softmax = true;  // false: steps 2 and 3 are left out, and w_ij = d_ij
  hal::ElementType type = hal::ElementType::kFp16, out = hal::ElementType::kFp16;
  double cap = 0;                         // soft-cap of the scores; 0: none
  std::size_t value_width = 0;            // width of V and O; 0: width
  std::vector<HeadFactors> factors = {};  // in place of the scale, of every head of every batch; empty: the scale
  hal::BlockMask blocks{};                // in addition to the mask
  std::vector<std::size_t> valid = {};    // unpadded keys of each batch; empty: all
  // Bias added to a scaled score; `head` of Q counts over all batches. Empty: none.
  std::function<double(std::uint32_t head, std::uint32_t query, std::uint32_t key)> bias = {};
  // Learned sink of each head of Q of a batch; empty: none.
  std::vector<double> sinks = {};
  // Block scales of rows of Q, K and V, for every head of every batch; they replace `scale`.
  struct RowScales {
    std::size_t block = 0;
    std::vector<float> q, k, v;  // one for each block
  };
  std::vector<RowScales> scales = {};
  bool rounds = false;  // the reference rounds scores and P to FP16 and P to the type, as a machine does

  std::size_t query_elements() const { return batch * heads * queries * width; }
  std::size_t key_elements() const { return batch * heads * keys * width; }
  std::size_t values() const { return value_width > 0 ? value_width : width; }
  std::size_t value_elements() const { return batch * heads * keys * values(); }
  std::size_t output_elements() const { return batch * heads * queries * values(); }
};
// With the queries of a group of heads concatenated. The result refers to `attention`.
AttentionShape shape_of(const workload::Attention& attention);

struct GoldenResult {
  bool passed = true;
  std::size_t rows = 0;
  std::size_t failures = 0;  // elements beyond tolerance, or not finite where the reference is
  // Rows that are not finite where the reference is, because scores, or else results, exceed FP16's 65,504.
  std::size_t rows_of_score_overflow = 0, rows_of_result_overflow = 0;
  double max_abs_error = 0.0;  // over elements that are finite in both results
  int max_ulp_error = 0;       // against the reference rounded to FP16; large where sums cancel to near 0
  // Element with the greatest error / tolerance (`severity`), or the first failed special value.
  std::size_t batch = 0, head = 0, row = 0, column = 0;
  double expected = 0.0, actual = 0.0, tolerance = 0.0, severity = -1;

  // `part` follows; its first batch is batch `first_batch` of the whole.
  void add(const GoldenResult& part, std::size_t first_batch);
  std::string to_string() const;
  std::string overflow_text() const;  // "scores overflow FP16 in 25 of 32 rows"; empty without
};

// Compares elements with their tolerances, row by row.
class Comparison {
 public:
  // `scores_overflow`: scores that round to an infinity may make the row NaN.
  void begin_row(std::size_t batch, std::size_t head, std::size_t row, bool scores_overflow = false);
  // An `expected` NaN requires NaN; an infinity requires a value that is not finite.
  void compare(std::size_t column, double expected, double tolerance, arith::Half actual);
  const GoldenResult& result() const { return result_; }

 private:
  GoldenResult result_;
  std::size_t batch_ = 0, head_ = 0, row_ = 0;
  bool scores_overflow_ = false, counted_ = false;
};

// Softmax of whole rows, or in one pass over tiles of keys, the last of which may be shorter.
struct OnePass {
  std::size_t keys_per_tile = 0;  // 0: whole rows
  bool merged = false;            // partial results of a row are merged
};

GoldenResult check_attention(const AttentionShape& shape, const arith::Half* q, const arith::Half* k,
                             const arith::Half* v, const arith::Half* output, const OnePass& softmax = {});

// Reference only, [batch, heads, queries, width] in double; NaN where it has no number.
std::vector<double> reference_attention(const AttentionShape& shape, const arith::Half* q, const arith::Half* k,
                                        const arith::Half* v);
std::vector<double> reference_attention(const AttentionShape& shape, const double* q, const double* k, const double* v);

}  // namespace attnvp::job
