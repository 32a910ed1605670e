#include "platform/schedule/check/trackers.h"

#include <fmt/format.h>

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

namespace {

Region region_of(const hal::Descriptor& d, int operand) {
  return {d.operand[operand].address, d.rows, d.row_bytes(operand), d.operand[operand].row_stride};
}

// Intersection of `part` with `whole`, which have the same row stride: rows, and bytes of them.
struct RegionShare {
  std::int64_t first_row, rows, first_byte, bytes;
};
RegionShare share_of(const Region& part, std::int64_t row, std::int64_t byte, const Region& whole) {
  RegionShare s{std::max<std::int64_t>(row, 0), 0, std::max<std::int64_t>(byte, 0), 0};
  s.rows = std::min(row + static_cast<std::int64_t>(part.rows), static_cast<std::int64_t>(whole.rows)) - s.first_row;
  s.bytes = std::min(byte + static_cast<std::int64_t>(part.row_bytes), static_cast<std::int64_t>(whole.row_bytes)) -
            s.first_byte;
  return s;
}

}  // namespace

template <typename Visit>
void KeyTracker::each_in(const Region& region, const Visit& visit) const {
  auto c = columns_.lower_bound(region.address > longest_ ? region.address - longest_ : 0);
  for (; c != columns_.end() && c->first < region.end(); ++c) visit(c->second);
}

void KeyTracker::add(const KeyColumns& c) {
  columns_.emplace(c.region.address, c);
  longest_ = std::max(longest_, c.region.end() - c.region.address);
}

void KeyTracker::forget(const Region& region) {
  auto c = columns_.lower_bound(region.address > longest_ ? region.address - longest_ : 0);
  while (c != columns_.end() && c->first < region.end()) {
    c = share_a_byte(c->second.region, region) ? columns_.erase(c) : std::next(c);
  }
}

void KeyTracker::forget(const hal::Descriptor& d, int operand) {
  if (d.type[operand] != hal::ElementType::kNone) forget(region_of(d, operand));
}

KeyTracker::TensorRow KeyTracker::at(std::uint64_t address) const {
  TensorRow row;
  each_in({address, 1, 1, 0}, [&](const KeyColumns& c) {
    const std::uint64_t offset = address - c.region.address;
    const std::uint64_t byte = c.region.rows > 1 ? offset % c.region.row_stride : offset;
    if (share_a_byte(c.region, {address, 1, 1, 0})) row = c.key + byte / c.element_bytes;
  });
  return row;
}

void KeyTracker::transfer(const hal::Descriptor& d) {
  const Region from = region_of(d, 0), to = region_of(d, 1);
  const std::uint32_t from_bytes = hal::element_bytes(d.type[0]), to_bytes = hal::element_bytes(d.type[1]);
  std::vector<KeyColumns> moved;
  each_in(from, [&](const KeyColumns& c) {
    if (c.element_bytes != from_bytes ||
        (from.rows > 1 && c.region.rows > 1 && from.row_stride != c.region.row_stride)) {
      return;
    }
    const auto apart = static_cast<std::int64_t>(from.rows > 1       ? from.row_stride
                                                 : c.region.rows > 1 ? c.region.row_stride
                                                                     : std::uint64_t{1} << 40);
    const auto distance = static_cast<std::int64_t>(c.region.address - from.address);
    std::int64_t row = distance / apart, byte = distance % apart;
    if (byte < 0) {
      byte += apart;
      --row;
    }
    for (int side = 0; side < 2; ++side, ++row, byte -= apart) {  // relative to this row, then to the next
      const RegionShare s = share_of(c.region, row, byte, from);
      if (s.rows <= 0 || s.bytes <= 0) continue;
      const std::uint64_t first = static_cast<std::uint64_t>(s.first_byte) / from_bytes;
      const Region there{to.address + static_cast<std::uint64_t>(s.first_row) * to.row_stride + first * to_bytes,
                         static_cast<std::uint64_t>(s.rows),
                         static_cast<std::uint64_t>(s.bytes) / from_bytes * to_bytes, to.row_stride};
      moved.push_back({there, c.key + static_cast<std::uint64_t>(s.first_byte - byte) / from_bytes, to_bytes});
    }
  });
  forget(to);
  for (const KeyColumns& c : moved) add(c);
}

std::string KeyTracker::follow(LineId line, const hal::Descriptor& d, TensorRow of_k, TensorRow of_v) {
  std::string wrong;
  const auto check_rows = [&](const TensorRow& probabilities) {
    if (!probabilities) return;
    if (of_k) wrong = "probabilities are multiplied with rows of V, these are of K";
    if (!of_v || *probabilities == *of_v) return;
    wrong = fmt::format("its probabilities are of the keys from row {} of K on, these are the rows of V from {} on",
                        *probabilities, *of_v);
  };
  const hal::OperationInfo* const info = hal::find(d.opcode);
  const std::pair<LineId, std::uint32_t> slot{line, d.tail.tile.slot};
  if (hal::is_product(d)) {
    const bool is_resident = info->family == hal::Family::kResident;
    if (hal::is_transposed(d)) {
      if (of_v) wrong = "scores are products with rows of K, these are of V";
    } else if (!is_resident) {
      check_rows(at(d.operand[0].address));
    } else if (const auto tile = resident_.find(slot); tile != resident_.end()) {
      check_rows(tile->second);
    }
    forget(d, 2);
    if (!hal::is_transposed(d)) return wrong;
    if (is_resident) resident_.erase(slot);
    if (of_k && is_resident) resident_[slot] = *of_k;
    if (of_k && !is_resident) add({region_of(d, 2), *of_k, hal::element_bytes(d.type[2])});
  } else if (hal::family_of(d.opcode) != hal::Family::kCopy) {
    const bool has_keys = info != nullptr && (info->flags & hal::kMasked) != 0;  // columns of operands 0 and 1
    if (has_keys) transfer(d);
    for (int i = has_keys ? 2 : 0; i < hal::kOperands; ++i) forget(d, i);
  } else if (d.tail.copy.planes <= 1) {
    transfer(d);
  } else {
    for (std::uint32_t plane = 0; plane < d.tail.copy.planes; ++plane) {
      Region to = region_of(d, 1);
      to.address += std::uint64_t{plane} * d.tail.copy.plane_stride[1];
      forget(to);
    }
  }
  return wrong;
}

bool BlankRows::all() const { return any() && std::find(row.begin(), row.end(), false) == row.end(); }

void BlankRows::add(std::uint64_t rows, std::uint64_t first, std::uint64_t end, LineId by, std::uint32_t at) {
  if (!any()) {
    line = by;
    step = at;
  }
  if (row.size() < rows) row.resize(rows, false);
  std::fill(row.begin() + static_cast<std::ptrdiff_t>(first), row.begin() + static_cast<std::ptrdiff_t>(end), true);
}

void Blanks::find(const Region& r, BlankRows& rows) const {
  if (blank_.empty()) return;
  auto at = blank_.upper_bound(r.address);
  if (at != blank_.begin()) --at;
  for (; at != blank_.end() && at->first < r.end(); ++at) {
    const Region bytes{at->first, 1, at->second.end - at->first, 0};
    if (!share_a_byte(r, bytes)) continue;
    for (std::uint64_t row = 0; row < r.rows; ++row) {
      const std::uint64_t low = r.address + row * r.row_stride;
      if (low < at->second.end && at->first < low + r.row_bytes) {
        rows.add(r.rows, row, row + 1, at->second.line, at->second.step);
      }
    }
  }
}

void Blanks::cut(std::uint64_t low, std::uint64_t high) {
  auto at = blank_.upper_bound(low);
  if (at != blank_.begin()) --at;
  while (at != blank_.end() && at->first < high) {
    const std::uint64_t begin = at->first;
    const BlankBytes bytes = at->second;
    if (bytes.end <= low) {
      ++at;
      continue;
    }
    at = blank_.erase(at);
    if (begin < low) blank_[begin] = {low, bytes.line, bytes.step};
    if (bytes.end > high) blank_[high] = bytes;
  }
}

void Blanks::write(const Region& r, const BlankRows& rows) {
  for (std::uint64_t row = 0; row < r.rows && (!blank_.empty() || rows.any()); ++row) {
    const std::uint64_t low = r.address + row * r.row_stride;
    if (!blank_.empty()) cut(low, low + r.row_bytes);
    if (row < rows.row.size() && rows.row[row]) blank_[low] = {low + r.row_bytes, rows.line, rows.step};
  }
}

}  // namespace attnvp::schedule::check
