// Integers of std::mt19937_64. The standard's distributions are not used, because libraries implement them differently.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace attnvp {

class RandomSource {
 public:
  explicit RandomSource(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t below(std::uint64_t n) { return engine_() % n; }  // n is small: the bias is below n / 2^64
  bool percent(std::uint64_t chance) { return below(100) < chance; }
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }  // [0, 1)
  template <typename T>
  T one_of(const std::vector<T>& values) {
    return values[below(values.size())];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace attnvp
