// Golden reference softmax(scale Q K^T) V, over the keys that a mask leaves to each query, in double precision, and the
// check of an FP16 output against it with a tolerance derived per element from the data.
//
// What the machine does to row i (u = 2^-24, FP32; h = 2^-11, FP16; both round to nearest):
//   1. Scores. Exact products, at most E additions in FP32, one rounding to FP16. With a_ij = |q_i| |k_j|
//      (2-norms) >= sum_e |q_ie k_je| and acc_ij = 1.01 E u a_ij, the score's error is at most
//        d_ij = acc_ij + h (|s_ij| + acc_ij) + 2^-25.
//      A scale other than 1 is a factor of q here, and one more rounding in FP32: E + 1 of them.
//   2. Softmax of the perturbed scores. Let P be the exact softmax and g_i = sum_j P_ij e^d_ij. The
//   normaliser
//      moves by a factor within [1/g_i, g_i] (sum P e^-d >= 1 / sum P e^d, by Cauchy-Schwarz), hence
//        P_ij / (e^d_ij g_i) <= P'_ij <= P_ij e^d_ij g_i.
//   3. The VEC engine: relative error eps = kSoftmaxRelativeError, then one rounding to FP16. With
//      t_ij = P_ij e^d_ij g_i (1 + eps) the rounding costs at most min(t, max(h t, 2^-25)) (a value below
//      2^-25 becomes 0), so |P''_ij - P_ij| <= w_ij = t_ij - P_ij + min(t_ij, max(h t_ij, 2^-25)).
//   4. P V: exact products; adding a zero is exact, so the FP32 roundings are n_i = #{j: t_ij > 2^-25} at
//   most,
//      each relative to at most sum_j P''_ij |v_jd|: error <= 1.01 n_i u sum_j (P_ij + w_ij) |v_jd|.
//   5. One rounding of the result to FP16: h |.| + 2^-25.
// Together: T_id = sum_j (w_ij + 1.01 n_i u (P_ij + w_ij)) |v_jd|,
//           |O - O_ref| <= T_id + h (|O_ref| + T_id) + 2^-25.
// T_id is evaluated in FP32 and enlarged by more than that evaluation can lose. The bound holds for every
// order of the additions and every tiling with FP32 partials.
//
// One pass (keys_per_tile > 0; models/arith/online.h): a row's T tiles go by once, its sums scaled whenever its running
// maximum changes. Steps 3 and 4 are then, with c_i the changes that row i can have (a tile whose greatest score, its
// error added, exceeds the greatest before it, its error subtracted):
//   3. A weight is e^(S - M) against the running maximum M, times the scale of every later change. Fixed point
//      maxima cancel from step to step, so that the rounding of X counts once (2^-15) and the table's error
//      (kExpStepError) 1 + c_i times, in numerators and likewise in the denominator, of which terms of at most 2^-40
//      each and sums scaled to below that are lost (n 2^-39) and which is rounded 3 T + 1 times:
//        eps = 2 (2^-15 + (1 + c_i) kExpStepError) + n 2^-39 + (3 T + 1) u.
//      e^(S - M) is rounded to FP16 before it is scaled: at most max(h t, 2^-25 max_j t), as no scale exceeds 1.
//      Scales below 2^-40 are 0: what they lose is less than that.
//   4. FP32 roundings: those of a tile's sum, min(n, keys_per_tile); a product, a product of what is added, and an
//      addition per tile (merges of partial results included), 3 T; the division, 1.
//
// Other element types (models/arith/number.h, platform/job/quantise.h). Q, K and V are taken as the machine has them,
// so that how they were rounded is no matter. With r and z what rounding P to its type loses, relatively and at least:
//   1. INT8: sums are exact; two roundings in FP32, of the sum and of its product with the head's factor.
//   3. P is rounded once more: w_ij grows by max(r t, z), z in units of the row's greatest P for P of one byte.
//   4. P of one byte of whole rows: a_ij, what is kept, is off by w_ij up to a factor that cancels, and the sum of a
//   row
//      of it by W_i = sum_j w_ij. As O' - O = sum_j (a_ij - P_ij) (v_jd - O_id) / sum_j a_ij, that is at most
//        T'_id = (T_id + W_i |O_id|) / (1 - W_i).
//      FP32 roundings: twice as many and four (INT8: four); one pass: three more in place of INT8's sums.
//   5. h is that of O's type.
//   6. A bias is added in FP32 behind the scale: three roundings more, and 4 u of its magnitude.
//   7. Scales of blocks: a score has two roundings more, of the factors and of the product with them; P.V has FP32
//      sums of blocks, whose roundings are as many as blocks of keys, twice, and those of one pass.
// V's factor of a head is one of O and of its bound. A soft-cap's slope is at most 1, so that it makes no error of a
// score larger; it adds one rounding in FP32 to it.
//
// Wide rows: g_i^2 (1 + eps) > 1 + 2^-5, some d_ij > 100, or W_i > 1/4. There T exceeds what probabilities allow, which
// are at most 1 and whose sum is 1. Before eps and the roundings P' is the exact softmax of the machine's scores, so
// that sum_j P'_ij v_jd is a mean of v_jd with weights between P_ij e^-d_ij (0 where the score may round to -inf) and
// P_ij e^d_ij. With M_d the greatest and m_d the least of such means, N_d the greatest of |v_jd|, and t_ij the greatest
// that P'_ij can be then, at most 1 + eps,
//   T_id = max(M_d - O_id, O_id - m_d) + L_d + 1.01 n_i u (N_d + L_d),
//   L_d = (eps + h (1 + eps)) N_d + sum_j min(t_ij, 2^-25) |v_jd|.
// Weights above a mean M are the greatest ones in it and the others the least, or another mean exceeded M: M_d is found
// by Dinkelbach's method. Hence |O - O_ref| never exceeds the spread of the values of keys that count, and roundings.
// One pass: what e^(S - M) is off by, 2^-15 + (1 + c_i) kExpStepError, is in numerators and denominator alike and part
// of d_ij. P of one byte of whole rows: so is what P loses by its roundings, and L_d is 0.
//
// Special values:
//   - double precision alone says where no number is: a score of NaN or +inf, or nothing but -inf, makes the row NaN;
//     a value of V that is not finite, and that the row sees, makes its column not finite (inf and NaN are right);
//   - a result that is not finite elsewhere fails. Rows where FP16 is the cause are counted: a score that may round to
//     an infinity (|s| >= 65520, less its error), where +inf or all of -inf leave NaN; an output whose tolerance
//     reaches 65520. A single score of -inf is a probability of 0, which is right.
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

namespace attnvp::job {

// Factors of a head of K and V: of its scores and of its O.
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
  hal::Mask mask{};     // what it hides takes no part; rows of a head begin anew every mask.queries
  float scale = 1;      // of the scores
  bool softmax = true;  // otherwise steps 2 and 3 are left out, and w_ij = d_ij
  hal::ElementType type = hal::ElementType::kFp16, out = hal::ElementType::kFp16;
  double cap = 0;                         // soft-cap of the scores; 0: none
  std::size_t value_width = 0;            // of V and O; 0: width
  std::vector<HeadFactors> factors = {};  // of every batch's heads, in place of the scale; none: that alone
  hal::BlockMask blocks{};                // beside the mask
  std::vector<std::size_t> valid = {};    // keys of each batch that count; none: all
  // Added to the scaled score of a query and a key: of that head of Q, among those of all batches. None: nothing.
  std::function<double(std::uint32_t head, std::uint32_t query, std::uint32_t key)> bias = {};
  // Of rows of Q, K and V of every batch's heads, where blocks of them have scales; then that is in place of the scale.
  struct RowScales {
    std::size_t block = 0;
    std::vector<float> q, k, v;  // of a block
  };
  std::vector<RowScales> scales = {};

  std::size_t query_elements() const { return batch * heads * queries * width; }
  std::size_t key_elements() const { return batch * heads * keys * width; }
  std::size_t values() const { return value_width > 0 ? value_width : width; }
  std::size_t value_elements() const { return batch * heads * keys * values(); }
  std::size_t output_elements() const { return batch * heads * queries * values(); }
};

struct GoldenResult {
  bool passed = true;
  std::size_t rows = 0;
  std::size_t failures = 0;  // elements beyond their tolerance, or not finite where double precision is
  // Rows with elements that are not finite where double precision is, as numbers beyond FP16's 65,504 are infinite:
  // scores, or else the result.
  std::size_t rows_of_score_overflow = 0, rows_of_result_overflow = 0;
  double max_abs_error = 0.0;  // over the elements that are finite, and whose reference is
  int max_ulp_error = 0;       // against the reference rounded to FP16; large where sums cancel to near 0
  // The element with the greatest error in units of its tolerance, `severity` (the first failed special value, if any).
  std::size_t batch = 0, head = 0, row = 0, column = 0;
  double expected = 0.0, actual = 0.0, tolerance = 0.0, severity = -1;

  void add(const GoldenResult& part, std::size_t batch);  // of that batch
  std::string to_string() const;
  std::string overflow_text() const;  // "scores overflow FP16 in 25 of 32 rows"; empty without
};

// Holds elements to their tolerances, row by row.
class Comparison {
 public:
  // `scores_overflow`: scores that round to an infinity may leave no number in the row.
  void begin_row(std::size_t batch, std::size_t head, std::size_t row, bool scores_overflow = false);
  // An `expected` NaN wants a NaN, an infinity any value that is not finite.
  void compare(std::size_t column, double expected, double tolerance, arith::Half actual);
  const GoldenResult& result() const { return result_; }

 private:
  GoldenResult result_;
  std::size_t batch_ = 0, head_ = 0, row_ = 0;
  bool scores_overflow_ = false, counted_ = false;
};

// How a row's softmax is taken: whole, or in one pass over tiles of so many keys, the last of which may be shorter.
struct OnePass {
  std::size_t keys_per_tile = 0;  // 0: whole rows
  bool merged = false;            // a row is taken in pieces that are merged
};

GoldenResult check_attention(const AttentionShape& shape, const arith::Half* q, const arith::Half* k,
                             const arith::Half* v, const arith::Half* output, const OnePass& softmax = {});

// The reference alone, [batch, heads, queries, width] in double; NaN where double precision has no number.
std::vector<double> reference_attention(const AttentionShape& shape, const arith::Half* q, const arith::Half* k,
                                        const arith::Half* v);

}  // namespace attnvp::job
