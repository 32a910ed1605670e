// Bias of scores: ALiBi, T5 relative positions, or values from a .npy file.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "platform/base/npy/npy.h"
#include "platform/base/npy/npy_header.h"
#include "platform/machine/document.h"
#include "platform/machine/words.h"
#include "platform/workload/keys.h"

namespace attnvp::workload {

using namespace config;

// With n the greatest power of two of the heads: 2^(-8/n), its square, ...; the other heads take every second slope of
// 2 n heads.
float alibi_slope(std::uint32_t head, std::uint32_t heads) {
  std::uint32_t n = 1;
  while (2 * n <= heads) n *= 2;
  const double step = head < n ? 8.0 / n : 4.0 / n;
  const std::uint32_t place = head < n ? head + 1 : 2 * (head - n) + 1;
  return static_cast<float>(std::exp2(-step * place));
}

// Magnitudes of learned biases, different for every head and bucket: multiples of 1/16 between -4 and 4.
arith::Half relative_bias(std::uint32_t head, std::uint32_t bucket) {
  std::uint32_t x = (head * hal::kBuckets + bucket + 1) * 2654435761U;
  x ^= x >> 15;
  x *= 2246822519U;
  x ^= x >> 13;
  return arith::half_from_double((static_cast<double>(x % 129) - 64) / 16);
}

double bias_of(const Attention& n, std::uint32_t head, std::uint32_t query, std::uint32_t key) {
  const std::uint32_t heads = n.heads * n.group(), batch = head / heads;
  head -= batch * heads;
  if (n.bias == Bias::kAlibi) {
    const std::uint32_t distance = key > query ? key - query : query - key;
    return -static_cast<double>(alibi_slope(head, heads)) * distance;
  }
  if (n.bias == Bias::kTensor) {
    return static_cast<double>(arith::float_from_half(n.bias_tensor->at(batch, head, query - n.mask.history, key)));
  }
  if (n.bias == Bias::kNone) return 0;
  const std::uint32_t bucket = hal::relative_bucket(query, key, n.mask.causal == 0);
  return static_cast<double>(arith::float_from_half(relative_bias(head, bucket)));
}

namespace {

// -inf masks a key. A query whose keys are all masked has no softmax.
void check_bias(const Attention& n, const std::string& what) {
  const BiasTensor& bias = *n.bias_tensor;
  const auto finite = [](arith::Half x) { return arith::is_finite(x); };
  if (std::all_of(bias.numbers.begin(), bias.numbers.end(), finite)) return;
  for (std::uint32_t b = 0; b < n.batch; ++b) {
    const hal::Mask m = n.mask_of(b);
    for (std::uint32_t t = 0; t < n.seq_q; ++t) {
      std::vector<std::uint32_t> seen;
      for (std::uint32_t key = 0; key < n.valid_keys(b); ++key) {
        if (hal::sees(m, n.block_mask(), t % m.queries, key, n.seq_kv)) seen.push_back(key);
      }
      for (std::uint32_t h = 0; h < n.heads; ++h) {
        const auto at = [&](std::uint32_t key) { return arith::is_finite(bias.at(b, h, t, key)); };
        if (std::any_of(seen.begin(), seen.end(), at)) continue;
        throw ConfigError(
            fmt::format("{}: has -inf for all keys that token {} of batch {} attends to, head {}; every "
                        "query needs one",
                        what, t, b, h));
      }
    }
  }
}

}  // namespace

void read_bias(Attention& n, const std::string& path) {
  const tensors::Array array = tensors::read_npy(path);
  const auto refuse = [&](const std::string& sentence) { fail({shown_path(path)}, sentence); };
  const std::uint32_t all[4] = {n.batch, n.heads, n.seq_q, n.seq_kv};
  BiasTensor bias;
  const std::size_t dimensions = array.shape.size(), missing = 4 - std::min<std::size_t>(dimensions, 4);
  bool fits = dimensions >= 2 && dimensions <= 4;
  for (std::size_t d = missing; fits && d < 4; ++d) {
    const std::size_t extent = array.shape[d - missing];
    fits = extent == 1 || extent == all[d];
    bias.extent[d] = static_cast<std::uint32_t>(extent);
  }
  if (!fits) {
    refuse(
        fmt::format("has shape {}; allowed is {}, its last three or its last two, with 1 for what is the same for all",
                    tensors::shape_text(array.shape), tensors::shape_text({all[0], all[1], all[2], all[3]})));
  }
  for (std::size_t i = 0; i < array.half.size(); ++i) {
    const arith::Half x = array.half[i];
    if (!arith::is_nan(x) && x != arith::kHalfInfinity) continue;
    refuse(fmt::format("element {} is {}; allowed are finite numbers and -inf, which hides a key", i,
                       arith::is_nan(x) ? "NaN" : "inf"));
  }
  bias.numbers = array.half;
  n.bias = Bias::kTensor;
  n.bias_tensor = std::make_shared<const BiasTensor>(std::move(bias));
  check_bias(n, shown_path(path));
}

}  // namespace attnvp::workload
