#include "platform/run/golden/random_tensors.h"

#include <cmath>

namespace attnvp::job {
namespace {

// The finaliser of splitmix64 (Steele, Lea, Flood 2014).
std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15U;

std::int64_t sum_of_lanes(std::uint64_t x) {
  return static_cast<std::int64_t>((x & 0xFFFF) + ((x >> 16) & 0xFFFF) + ((x >> 32) & 0xFFFF) + (x >> 48));
}

}  // namespace

arith::Half random_half(std::uint64_t seed, std::uint64_t index, double stddev) {
  // Two draws of a splitmix64 stream with a mixed seed, so that near seeds give unrelated streams.
  const std::uint64_t state = mix(seed + kGolden) + 2 * index * kGolden;
  const std::int64_t sum = sum_of_lanes(mix(state + kGolden)) + sum_of_lanes(mix(state + 2 * kGolden));
  const std::int64_t centred = 2 * sum - std::int64_t{8} * 65535;
  // Variance of the sum of eight uniforms on 0..65535, times 4: 8 * 4 * (65536^2 - 1) / 12 = 107019.8^2.
  constexpr double kUnit = 1.0 / 107019.83984290015;
  // One IEEE multiplication a step and one rounding to FP16: independent of compiler flags.
  const double scale = stddev * kUnit;
  return arith::half_from_double(static_cast<double>(centred) * scale);
}

std::vector<arith::Half> random_tensor(std::uint64_t seed, std::size_t count, double stddev) {
  std::vector<arith::Half> tensor(count);
  for (std::size_t i = 0; i < count; ++i) tensor[i] = random_half(seed, i, stddev);
  return tensor;
}

AttentionTensors random_attention(const AttentionShape& shape, std::uint64_t seed, double score_spread) {
  const double q_stddev = score_spread / std::sqrt(static_cast<double>(shape.width));
  return {random_tensor(mix(seed) ^ 1, shape.query_elements(), q_stddev),
          random_tensor(mix(seed) ^ 2, shape.key_elements(), 1.0),
          random_tensor(mix(seed) ^ 3, shape.value_elements(), 1.0)};
}

}  // namespace attnvp::job
