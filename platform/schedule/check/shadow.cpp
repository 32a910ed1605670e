#include "platform/schedule/check/shadow.h"

#include <algorithm>
#include <utility>

namespace attnvp::schedule::check {

namespace {

// First row of `r` that ends after `low`.
std::uint64_t first_row(const Region& r, std::uint64_t low) {
  if (low < r.address + r.row_bytes) return 0;
  return r.row_stride == 0 ? r.rows : (low - r.address - r.row_bytes) / r.row_stride + 1;
}

bool meets(const Region& r, std::uint64_t low, std::uint64_t high) {
  const std::uint64_t row = first_row(r, low);
  return row < r.rows && r.address + row * r.row_stride < high;
}

// Removes the bytes of `r` from sorted intervals.
std::vector<Interval> without(const std::vector<Interval>& all, const Region& r) {
  std::vector<Interval> left;
  for (Interval i : all) {
    for (std::uint64_t row = first_row(r, i.low); i.any() && row < r.rows; ++row) {
      const std::uint64_t low = r.address + row * r.row_stride;
      if (low >= i.high) break;
      if (low > i.low) left.push_back({i.low, low});
      i.low = std::min(low + r.row_bytes, i.high);
    }
    if (i.any()) left.push_back(i);
  }
  return left;
}

}  // namespace

Region simplified(Region r) {
  if (r.rows > 1 && r.row_stride == r.row_bytes) {
    r.row_bytes *= r.rows;
    r.rows = 1;
  }
  if (r.rows == 1) r.row_stride = 0;
  return r;
}

bool share_a_byte(const Region& a, const Region& b) {
  if (a.end() <= b.address || b.end() <= a.address) return false;
  if (a.rows == 1) return meets(b, a.address, a.address + a.row_bytes);
  if (b.rows == 1) return meets(a, b.address, b.address + b.row_bytes);
  if (a.row_stride == b.row_stride) return overlap(a, b);
  const Region &few = a.rows < b.rows ? a : b, &many = a.rows < b.rows ? b : a;
  for (std::uint64_t row = 0; row < few.rows; ++row) {
    const std::uint64_t low = few.address + row * few.row_stride;
    if (meets(many, low, low + few.row_bytes)) return true;
  }
  return false;
}

bool contains(const Region& outer, const Region& inner) {
  if (inner.address < outer.address || inner.end() > outer.end()) return false;
  if (outer.rows == 1) return true;
  if (inner.rows > 1 && inner.row_stride != outer.row_stride) return false;
  const std::uint64_t offset = inner.address - outer.address;
  const std::uint64_t row = offset / outer.row_stride, column = offset % outer.row_stride;
  return column + inner.row_bytes <= outer.row_bytes && row + inner.rows <= outer.rows;
}

Shadow::Blocks::iterator Shadow::first_in(Interval bytes) {
  auto at = blocks_.upper_bound(bytes.low);
  if (at != blocks_.begin() && std::prev(at)->second.end > bytes.low) --at;
  return at;
}

std::vector<Touch>& Shadow::block_of(const Region& r) {
  const Interval bytes{r.address, r.end()};
  auto at = first_in(bytes);
  if (at == blocks_.end() || at->first >= bytes.high) {
    return blocks_.emplace(bytes.low, ByteBlock{bytes.high, {}}).first->second.touches;
  }
  if (at->first > bytes.low) {  // extended downwards
    ByteBlock block = std::move(at->second);
    blocks_.erase(at);
    at = blocks_.emplace(bytes.low, std::move(block)).first;
  }
  ByteBlock& block = at->second;
  block.end = std::max(block.end, bytes.high);
  for (auto next = std::next(at); next != blocks_.end() && next->first < block.end; next = blocks_.erase(next)) {
    block.end = std::max(block.end, next->second.end);
    std::move(next->second.touches.begin(), next->second.touches.end(), std::back_inserter(block.touches));
  }
  return block.touches;
}

const Touch* Shadow::latest_write(const Region& region) const {
  auto at = blocks_.upper_bound(region.address);
  if (at != blocks_.begin()) --at;
  for (; at != blocks_.end() && at->first < region.end(); ++at) {
    const std::vector<Touch>& here = at->second.touches;
    for (auto t = here.rbegin(); t != here.rend(); ++t) {
      if (t->write && share_a_byte(t->region, region)) return &*t;
    }
  }
  return nullptr;
}

Interval Shadow::unwritten(const Region& region, std::uint64_t least) const {
  auto first = blocks_.upper_bound(region.address);
  if (first != blocks_.begin()) --first;
  const auto each_write = [&](const auto& visit) {  // until visit() returns true
    for (auto at = first; at != blocks_.end() && at->first < region.end(); ++at) {
      // Latest first, as the likeliest.
      const std::vector<Touch>& here = at->second.touches;
      for (auto t = here.rbegin(); t != here.rend(); ++t) {
        if (t->write && visit(t->region)) return true;
      }
    }
    return false;
  };
  for (const Interval& i : initial_) {
    if (i.low <= region.address && region.end() <= i.high) return {};
  }
  if (each_write([&](const Region& r) { return contains(r, region); })) return {};

  std::vector<Interval> left;
  for (std::uint64_t row = 0; row < region.rows; ++row) {
    const std::uint64_t low = region.address + row * region.row_stride;
    left.push_back({low, low + region.row_bytes});
  }
  for (const Interval& i : initial_) left = without(left, {i.low, 1, i.high - i.low, 0});
  each_write([&](const Region& r) {
    if (share_a_byte(r, region)) left = without(left, r);
    return left.empty();
  });
  for (const Interval& i : left) {
    if (i.high - i.low >= least) return i;
  }
  return {};
}

}  // namespace attnvp::schedule::check
