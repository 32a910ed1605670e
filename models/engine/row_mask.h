// Columns of each row that a descriptor's mask (firmware/hal/mask.h) leaves visible.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "firmware/hal/descriptor.h"
#include "models/engine/descriptor_check.h"

namespace attnvp {

class RowMask {
 public:
  // `columns`: length of a row. `applies`: otherwise all columns are visible.
  RowMask(const hal::Descriptor& d, std::uint64_t columns, bool applies = true)
      : rule_(d.tail.rule),
        columns_(columns),
        rows_(d.rows),
        masked_(applies && (d.flags & hal::kMasked) != 0),
        mapped_(masked_ && (d.flags & hal::kBlocked) != 0),
        by_run_(mapped_ || (masked_ && rule_.mask.has_patterns())) {}

  // Visible columns: [0, head) and [first, end), with head = 0 or head < first; with a block map or a pattern, `runs`.
  struct VisibleRun {
    std::uint64_t first, end;
  };
  struct VisibleColumns {
    std::uint64_t head = 0, first = 0, end = 0;
    bool mapped = false;
    std::vector<VisibleRun> runs = {};
    std::uint64_t count() const {
      if (!mapped) return head + (end - first);
      std::uint64_t sum = 0;
      for (const VisibleRun& r : runs) sum += r.end - r.first;
      return sum;
    }
    // The n-th visible column.
    std::uint64_t at(std::uint64_t n) const {
      if (!mapped) return n < head ? n : n - head + first;
      auto r = runs.begin();
      for (; n >= r->end - r->first; ++r) n -= r->end - r->first;
      return r->first + n;
    }
    template <typename Visit>
    void each_run(const Visit& visit) const {
      if (mapped) {
        for (const VisibleRun& r : runs) visit(r.first, r.end);
      } else {
        if (head > 0) visit(std::uint64_t{0}, head);
        visit(first, end);
      }
    }
  };
  VisibleColumns of(std::uint64_t row) const {
    if (!masked_) return {0, 0, columns_};
    const auto key_end = rule_.key + static_cast<std::uint32_t>(columns_);
    const hal::Visible v = hal::visible_rows(rule_.mask, rule_.row + static_cast<std::uint32_t>(row), 1, key_end);
    const auto column = [&](std::uint32_t key) { return std::uint64_t{key - std::min(key, rule_.key)}; };
    VisibleColumns c{column(v.head), column(v.first), column(v.end)};
    if (by_run_) see_runs(static_cast<std::uint32_t>(row), v, c);
    return c;
  }
  bool masked() const { return masked_; }
  bool by_run() const { return by_run_; }  // uses VisibleColumns::runs
  // gather() packs the visible columns of a row; scatter() unpacks them and sets the others to `hidden`.
  template <typename T>
  static void gather(const T* row, const VisibleColumns& c, T* out) {
    c.each_run([&](std::uint64_t from, std::uint64_t to) { out = std::copy(row + from, row + to, out); });
  }
  template <typename T>
  void scatter(const T* in, const VisibleColumns& c, T* row, T hidden) const {
    std::uint64_t at = 0;
    c.each_run([&](std::uint64_t from, std::uint64_t to) {
      std::fill(row + at, row + from, hidden);
      std::copy_n(in, to - from, row + from);
      in += to - from;
      at = to;
    });
    std::fill(row + at, row + columns_, hidden);
  }

 private:
  void see_runs(std::uint32_t row, const hal::Visible& v, VisibleColumns& c) const {
    c.mapped = true;
    const auto end = rule_.key + static_cast<std::uint32_t>(columns_);
    if (mapped_) {
      see_map(row, v, c);
    } else {
      see(row, rule_.key, std::min(v.head, end), c);
      see(row, std::max(rule_.key, v.first), std::min(v.end, end), c);
    }
  }
  void see_map(std::uint32_t row, const hal::Visible& v, VisibleColumns& c) const {
    const hal::Mask& m = rule_.mask;
    const auto keys = static_cast<std::uint32_t>(columns_);
    const hal::BlockWindow w = hal::window_of(m, rule_.row, rows_, rule_.key, keys);
    const std::uint32_t line = (rule_.row + row) % m.queries / m.block;
    for (std::uint32_t j = w.first_column; j < w.first_column + w.columns; ++j) {
      const std::uint32_t bit = w.bit(line, j), low = std::max(j * m.block, rule_.key),
                          high = std::min((j + 1) * m.block, rule_.key + keys);
      if ((rule_.more.map[bit / 32] >> bit % 32 & 1) == 0) continue;
      see(row, low, std::min(high, v.head), c);
      see(row, std::max(low, v.first), std::min(high, v.end), c);
    }
  }
  // Adds the keys of [from, to) that no pattern hides.
  void see(std::uint32_t row, std::uint32_t from, std::uint32_t to, VisibleColumns& c) const {
    const hal::Mask& m = rule_.mask;
    if (!m.has_patterns()) return add(from, to, c);
    const std::uint32_t position = m.history + (rule_.row + row) % m.queries;
    for (std::uint32_t key = from; key < to; ++key) {
      if (!m.hides(position, key)) add(key, key + 1, c);
    }
  }
  void add(std::uint32_t from, std::uint32_t to, VisibleColumns& c) const {
    if (from >= to) return;
    if (!c.runs.empty() && c.runs.back().end == from - rule_.key) {
      c.runs.back().end = to - rule_.key;
    } else {
      c.runs.push_back({from - rule_.key, to - rule_.key});
    }
  }
  const hal::RuleTail& rule_;
  std::uint64_t columns_;
  std::uint32_t rows_;
  bool masked_, mapped_, by_run_;
};

// Checks that the part of the tail that the flags require is within the length and is a valid mask.
Refusal check_rules(const hal::Descriptor& descriptor);

}  // namespace attnvp
