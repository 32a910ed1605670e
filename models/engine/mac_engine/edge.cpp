#include "models/engine/mac_engine/edge.h"

#include <algorithm>
#include <cstring>

#include "models/arith/half.h"
#include "models/arith/softmax.h"
#include "models/engine/mac_engine/mac_plan.h"

namespace attnvp {

namespace {

float number(std::uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

bool has(const hal::Descriptor& d, int flags) { return (d.flags & flags) != 0; }

// Element i of an FP32 array of `most` elements, or its last one.
float at(const std::uint32_t* numbers, std::uint32_t i, std::uint32_t most) {
  return number(numbers[std::min(i, most - 1)]);
}

}  // namespace

Edge::Edge(const hal::Descriptor& d, const unsigned char* addends)
    : rule_(d.tail.rule),
      flags_(d.flags),
      blocks_(has(d, hal::kBlockScaled)),
      scores_(hal::is_transposed(d)),
      scale_(scale_of(d)),
      cap_(has(d, hal::kCapped) ? number(d.tail.rule.cap) : 0),
      addends_(addends),
      addends_stride_(d.operand[3].row_stride),
      addends_columns_(addends == nullptr ? 0 : addend_columns(d)) {}

bool Edge::is_used(const hal::Descriptor& d) {
  return has(d, hal::kCapped | hal::kSloped | hal::kBucketed) || hal::has_addends(d);
}

float Edge::key_scale(std::uint32_t k) const {
  const hal::BlockScales& s = rule_.more.scales;
  return at(s.key, (rule_.key + k) / s.block - rule_.key / s.block, hal::kMostScaled);
}

std::uint32_t Edge::block_left(std::uint32_t k) const {
  const std::uint32_t block = rule_.more.scales.block;
  return block - (rule_.key + k) % block;
}

void Edge::leave(std::uint32_t row, float* x, std::size_t n) const {
  if (blocks_ && scores_) {
    const hal::BlockScales& s = rule_.more.scales;
    const float of_row = at(s.row, (rule_.row + row) / s.block - rule_.row / s.block, hal::kMostScaled);
    for (std::size_t j = 0; j < n; ++j) x[j] *= of_row * key_scale(static_cast<std::uint32_t>(j));
  } else {
    for (std::size_t j = 0; j < n; ++j) x[j] *= scale_;
  }
  if (cap_ > 0) {
    for (std::size_t j = 0; j < n; ++j) {
      x[j] = static_cast<float>(arith::soft_cap(static_cast<double>(x[j]), static_cast<double>(cap_)));
    }
  }
  if ((flags_ & (hal::kSloped | hal::kBucketed)) != 0) add_bias(row, x, n);
  if (addends_ != nullptr) add_addends(row, x, n);
}

void Edge::add_addends(std::uint32_t row, float* x, std::size_t n) const {
  const auto* const from = reinterpret_cast<const arith::Half*>(addends_ + std::size_t{row} * addends_stride_);
  for (std::size_t j = 0; j < std::min<std::size_t>(n, addends_columns_); ++j) x[j] += arith::float_from_half(from[j]);
}

void Edge::add_bias(std::uint32_t row, float* x, std::size_t n) const {
  const hal::Mask& m = rule_.mask;
  const std::uint32_t query = m.history + (rule_.row + row) % m.queries;
  const float slope = at(rule_.more.slope, (rule_.row + row) / m.queries - rule_.row / m.queries, hal::kMostSlopes);
  for (std::size_t j = 0; j < n; ++j) {
    const std::uint32_t key = rule_.key + static_cast<std::uint32_t>(j);
    if ((flags_ & hal::kSloped) != 0) {
      const float bias = slope * static_cast<float>(key > query ? key - query : query - key);
      x[j] -= bias;
    } else {
      x[j] += arith::float_from_half(rule_.more.bucket[hal::relative_bucket(query, key, m.causal == 0)]);
    }
  }
}

std::uint64_t Edge::latency_cycles(const hal::Descriptor& d, const MacConfig& c) {
  std::uint64_t cycles = has(d, hal::kCapped) ? c.exp_cycles : 0;
  if (has(d, hal::kSloped)) cycles += 2 * std::uint64_t{c.add_cycles};
  if (has(d, hal::kBucketed | hal::kBlockScaled)) cycles += c.add_cycles;
  if (hal::has_addends(d)) cycles += c.add_cycles;
  return cycles;
}

std::uint64_t Edge::add_ops(const hal::Descriptor& d) {
  const hal::Product p = hal::product_of(d);
  const std::uint64_t results = std::uint64_t{p.m} * p.n;
  const int places = has(d, hal::kSloped) ? 2 : has(d, hal::kBucketed | hal::kBlockScaled) ? 1 : 0;
  return results * static_cast<std::uint64_t>(places + (hal::has_addends(d) ? 1 : 0));
}

}  // namespace attnvp
