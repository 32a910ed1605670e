// Biases of scores by the places of query and key.
#include <cmath>
#include <cstdlib>

#include "platform/config/network.h"

namespace attnvp::config {

// 2^(-8/n), its square, ... for the greatest power of two n of the heads; the others get every second one of those that
// 2 n heads would have.
float alibi_slope(std::uint32_t head, std::uint32_t heads) {
  std::uint32_t n = 1;
  while (2 * n <= heads) n *= 2;
  const double step = head < n ? 8.0 / n : 4.0 / n;
  const std::uint32_t place = head < n ? head + 1 : 2 * (head - n) + 1;
  return static_cast<float>(std::exp2(-step * place));
}

// Of the size of learned ones, and different for every head and bucket: multiples of 1/16 between -4 and 4.
arith::Half relative_bias(std::uint32_t head, std::uint32_t bucket) {
  std::uint32_t x = (head * hal::kBuckets + bucket + 1) * 2654435761U;
  x ^= x >> 15;
  x *= 2246822519U;
  x ^= x >> 13;
  return arith::half_from_double((static_cast<double>(x % 129) - 64) / 16);
}

double bias_of(const Network& n, std::uint32_t head, std::uint32_t query, std::uint32_t key) {
  if (n.bias == Bias::kAlibi) {
    const std::uint32_t distance = key > query ? key - query : query - key;
    return -static_cast<double>(alibi_slope(head, n.heads * n.group())) * distance;
  }
  if (n.bias == Bias::kNone) return 0;
  const std::uint32_t bucket = hal::relative_bucket(query, key, n.mask.causal == 0);
  return static_cast<double>(arith::float_from_half(relative_bias(head, bucket)));
}

}  // namespace attnvp::config
