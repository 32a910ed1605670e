// Edge of the MAC array: operations on sums that leave the array, in FP32 and in this order. Scale, block scales of
// rows and keys, soft-cap, bias by positions of query and key, addends. These pipelines take latency and energy, but no
// throughput.
#pragma once

#include <cstdint>
#include <vector>

#include "firmware/hal/descriptor.h"
#include "models/engine/config.h"

namespace attnvp {

class Edge {
 public:
  explicit Edge(const hal::Descriptor& descriptor, const unsigned char* addends = nullptr);  // nullptr: none

  // True if the descriptor has operations beside scales.
  static bool is_used(const hal::Descriptor& descriptor);
  // Applies the operations to the first n elements of row `row` of the result.
  void leave(std::uint32_t row, float* x, std::size_t n) const;
  // Sums over blocks of keys with scales: scale of key k of the product, and number of keys from k on that share it.
  bool sums_in_blocks() const { return blocks_ && !scores_; }
  float key_scale(std::uint32_t k) const;
  std::uint32_t block_left(std::uint32_t k) const;

  static std::uint64_t latency_cycles(const hal::Descriptor& descriptor, const MacConfig& config);
  static std::uint64_t add_ops(const hal::Descriptor& descriptor);  // multiplications included

 private:
  void add_bias(std::uint32_t row, float* x, std::size_t n) const;
  void add_addends(std::uint32_t row, float* x, std::size_t n) const;
  const hal::RuleTail& rule_;
  std::uint16_t flags_;
  bool blocks_, scores_;
  float scale_, cap_;
  const unsigned char* addends_;
  std::uint32_t addends_stride_, addends_columns_;
};

}  // namespace attnvp
