// What happens to sums on their way out of the array, in FP32 and in this order: the scale, those of blocks of rows and
// keys, a soft-cap, a bias by the places of query and key, addends. Pipelines at the array's edge: they take latency
// and energy, but no throughput.
#pragma once

#include <cstdint>
#include <vector>

#include "firmware/hal/descriptor.h"
#include "models/mac_engine/config.h"

namespace attnvp {

class Edge {
 public:
  explicit Edge(const hal::Descriptor& descriptor, const unsigned char* addends = nullptr);  // where it has them

  // n numbers of row `row` of the result, from its first column on.
  void leave(std::uint32_t row, float* x, std::size_t n) const;
  // Of sums over blocks of keys that have scales: of key k of the product, and how many from it on have the same.
  bool sums_in_blocks() const { return blocks_ && !scores_; }
  float key_scale(std::uint32_t k) const;
  std::uint32_t block_left(std::uint32_t k) const;

  static std::uint64_t latency_cycles(const hal::Descriptor& descriptor, const MacConfig& config);
  static std::uint64_t add_ops(const hal::Descriptor& descriptor);  // products count as well

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
