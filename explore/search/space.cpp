#include "explore/search/space.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "firmware/hal/descriptor.h"

namespace attnvp::explore {

namespace {

using Values = std::vector<std::uint32_t>;

constexpr std::uint32_t kLargestSubTile = 65535;

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

std::uint32_t round_up(std::uint32_t a, std::uint32_t unit) {
  return static_cast<std::uint32_t>(ceil_div(a, unit) * unit);
}

// Sorted, each once, none above `most`.
Values tidy(Values values, std::uint32_t most) {
  for (std::uint32_t& v : values) v = std::clamp(v, 1U, most);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

// Rows of a block of 1, 2, 4, ... parts of the sequence in whole passes of the array, at most `count` of them that are
// not longer than 16 passes; where the whole sequence is shorter than a pass, the sequence.
Values row_values(std::uint32_t seq, std::uint32_t rows) {
  Values values;
  for (std::uint32_t nq = rows; nq < seq && nq <= 16 * rows; nq *= 2) values.push_back(nq);
  for (std::uint32_t parts = 2; parts <= 16; parts += 2) {
    const auto nq = round_up(static_cast<std::uint32_t>(ceil_div(seq, parts)), rows);
    if (nq >= 2 * rows && nq <= 8 * rows) values.push_back(nq);
  }
  if (values.empty() || seq <= 16 * rows) values.push_back(seq);
  return tidy(std::move(values), seq);
}

}  // namespace

Space::Space(const Problem& p) {
  const MachineConfig& m = p.machine;
  const config::Network& n = p.network;
  values_[kNq] = row_values(n.seq_q, m.mac.rows);
  values_[kKv] = {1, 2, hal::kKvStream};
  values_[kHh] = tidy({1, 2, m.cores}, n.heads);
  // More than one batch together is of use where the heads of one do not give every core a row block.
  values_[kBb] = n.heads >= m.cores ? Values{1} : tidy({1, 2, m.cores}, n.batch);
  // Fractions of the sequence in whole columns of the array; a core takes at most kMaxTokens sub-blocks' tokens.
  const auto least = static_cast<std::uint32_t>(ceil_div(n.seq_kv, hal::kMaxTokens));
  values_[kNkv].clear();
  for (const std::uint32_t parts : {16U, 8U, 4U, 1U}) {
    const auto rows = round_up(static_cast<std::uint32_t>(ceil_div(n.seq_kv, parts)), m.mac.columns);
    values_[kNkv].push_back(std::max(rows, least));
  }
  values_[kNkv] = tidy(std::move(values_[kNkv]), n.seq_kv);
  values_[kRb] = {1, 2, 4};
  values_[kM0] = tidy({m.mac.rows, 2 * m.mac.rows}, kLargestSubTile);
  values_[kN0] = tidy({m.mac.columns, 2 * m.mac.columns}, kLargestSubTile);
  values_[kK0] = tidy({16, 32, 64}, kLargestSubTile);
  count();
}

Space::Space(std::array<Values, kDimensions> values) : values_(std::move(values)) { count(); }

void Space::count() {
  size_ = 1;
  below_[kDimensions] = 1;
  for (std::size_t d = kDimensions; d-- > 0;) {
    if (values_[d].empty() || values_[d].size() > 255) throw std::invalid_argument("a dimension has 1 to 255 values");
    size_ *= values_[d].size();
    below_[d] = size_;
  }
}

Point Space::point(std::uint64_t number) const {
  Point point{};
  for (std::size_t d = kDimensions; d-- > 0;) {
    point[d] = static_cast<std::uint8_t>(number % values_[d].size());
    number /= values_[d].size();
  }
  return point;
}

std::uint64_t Space::number(const Point& point) const {
  std::uint64_t number = 0;
  for (std::size_t d = 0; d < kDimensions; ++d) number = number * values_[d].size() + point[d];
  return number;
}

std::uint32_t& field(hal::Tiling& t, std::size_t dimension) {
  switch (dimension) {
    case kNq:
      return t.nq;
    case kKv:
      return t.kv_buffers;
    case kHh:
      return t.hh;
    case kBb:
      return t.bb;
    case kNkv:
      return t.nkv;
    case kRb:
      return t.row_buffers;
    case kM0:
      return t.m0;
    case kN0:
      return t.n0;
    default:
      return t.k0;
  }
}

hal::Tiling Space::tiling(const Point& point) const {
  hal::Tiling t{};
  for (std::size_t d = 0; d < kDimensions; ++d) field(t, d) = values_[d][point[d]];
  return t;
}

Point Space::nearest(const hal::Tiling& tiling) const {
  hal::Tiling t = tiling;
  Point point{};
  for (std::size_t d = 0; d < kDimensions; ++d) {
    const auto distance = [&](std::uint32_t value) {
      return std::abs(std::log(static_cast<double>(value)) - std::log(static_cast<double>(std::max(field(t, d), 1U))));
    };
    const Values& v = values_[d];
    const auto best = std::min_element(v.begin(), v.end(), [&](auto a, auto b) { return distance(a) < distance(b); });
    point[d] = static_cast<std::uint8_t>(best - v.begin());
  }
  return point;
}

// Operands double-buffered and the sums of one sub-tile, in the MAC engine's half.
bool Space::fits_l0(const MachineConfig& machine, const hal::Tiling& t) {
  const std::uint64_t operands = 2 * (std::uint64_t{t.m0} + t.n0) * t.k0 * 2;
  return operands + std::uint64_t{t.m0} * t.n0 * 4 <= machine.l0.size_bytes / 2;
}

}  // namespace attnvp::explore
