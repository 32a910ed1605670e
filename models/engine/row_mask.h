// What a descriptor's mask (firmware/hal/mask.h) lets each of its rows see, in columns of the row.
#pragma once

#include <algorithm>
#include <cstdint>

#include "firmware/hal/descriptor.h"
#include "models/engine/descriptor_check.h"

namespace attnvp {

class RowMask {
 public:
  // Of rows of `columns` columns.
  RowMask(const hal::Descriptor& d, std::uint64_t columns)
      : rule_(d.tail.rule), columns_(columns), masked_((d.flags & hal::kMasked) != 0) {}

  // [0, head) and [first, end); head = 0 or head < first.
  struct Columns {
    std::uint64_t head = 0, first = 0, end = 0;
    std::uint64_t count() const { return head + (end - first); }
  };
  Columns of(std::uint64_t row) const {
    if (!masked_) return {0, 0, columns_};
    const hal::Visible v = hal::visible_rows(rule_.mask, rule_.row + static_cast<std::uint32_t>(row), 1,
                                             rule_.key + static_cast<std::uint32_t>(columns_));
    const auto column = [&](std::uint32_t key) { return std::uint64_t{key - std::min(key, rule_.key)}; };
    return {column(v.head), column(v.first), column(v.end)};
  }
  bool masked() const { return masked_; }
  // A row's visible columns, one behind the other; and back, with `hidden` in the others.
  template <typename T>
  static void gather(const T* row, const Columns& c, T* out) {
    std::copy(row + c.first, row + c.end, std::copy_n(row, c.head, out));
  }
  template <typename T>
  void scatter(const T* in, const Columns& c, T* row, T hidden) const {
    std::copy_n(in, c.head, row);
    std::fill(row + c.head, row + c.first, hidden);
    std::copy_n(in + c.head, c.end - c.first, row + c.first);
    std::fill(row + c.end, row + columns_, hidden);
  }

 private:
  const hal::RuleTail& rule_;
  std::uint64_t columns_;
  bool masked_;
};

// The flags' part of the tail is within the length, and is a mask.
Refusal check_rules(const hal::Descriptor& descriptor);

}  // namespace attnvp
