#include "platform/schedule/check/blanks.h"

#include <algorithm>

namespace attnvp::schedule::check {

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
    const Bytes bytes = at->second;
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
