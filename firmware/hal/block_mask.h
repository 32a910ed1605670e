// Block-sparse mask: a bitmap that says which blocks of keys each block of new tokens may attend to. It restricts a
// layer's Mask (mask.h) further. Rows, columns and keys are counts of tokens.
#pragma once

#include "firmware/hal/mask.h"

namespace attnvp::hal {

constexpr std::uint32_t kMostBlocks = 256;  // along each axis
constexpr std::uint32_t kMostBlockWords = kMostBlocks * kMostBlocks / 32;

// Bit (i, j) is set where tokens [i b, (i + 1) b) may attend to keys [j b, (j + 1) b); b is Mask::block.
struct BlockMask {
  const std::uint32_t* words = nullptr;  // `stride` words per row, column 0 in bit 0; nullptr: no map
  std::uint32_t stride = 0;
  constexpr bool any() const { return words != nullptr; }
  constexpr bool at(std::uint32_t row, std::uint32_t column) const {
    return (words[row * stride + column / 32] >> column % 32 & 1) != 0;
  }
};

constexpr std::uint32_t map_rows(const Mask& m) { return (m.queries + m.block - 1) / m.block; }
constexpr std::uint32_t map_columns(const Mask& m, std::uint32_t keys) { return (keys + m.block - 1) / m.block; }
constexpr std::uint32_t map_stride(const Mask& m, std::uint32_t keys) { return (map_columns(m, keys) + 31) / 32; }

// The smallest range within keys [key, end) that holds every key to which at least one of the tokens [from, to] of a
// head attends. It is empty (key = end) if there is none.
struct Hull {
  std::uint32_t key, end;
  constexpr bool any() const { return key < end; }
  constexpr void add(std::uint32_t from, std::uint32_t to) {
    if (from >= to) return;
    if (from < key) key = from;
    if (to > end) end = to;
  }
};
constexpr Hull hull_of_tokens(const Mask& m, const BlockMask& blocks, std::uint32_t from, std::uint32_t to,
                              std::uint32_t key, std::uint32_t end) {
  Hull hull{end, key};
  const std::uint32_t b = m.block;
  const auto least = [](std::uint32_t x, std::uint32_t y) { return x < y ? x : y; };
  const auto most = [](std::uint32_t x, std::uint32_t y) { return x < y ? y : x; };
  for (std::uint32_t i = from / b; i <= to / b; ++i) {
    const Visible v = visible_tokens(m, most(i * b, from), least(i * b + b - 1, to), end);
    for (std::uint32_t k = key; k < v.end || k < v.head;) {
      const std::uint32_t next = least((k / b + 1) * b, end);
      if (blocks.at(i, k / b)) {
        hull.add(k, least(next, v.head));
        hull.add(most(k, v.first), least(next, v.end));
      }
      k = next;
    }
  }
  return hull.key < hull.end ? hull : Hull{end, end};
}

// As hull_of_tokens, for `rows` rows of queries from `row` on.
constexpr Hull hull_of_rows(const Mask& m, const BlockMask& blocks, std::uint32_t row, std::uint32_t rows,
                            std::uint32_t key, std::uint32_t end) {
  const std::uint32_t token = row % m.queries;
  if (rows > m.queries - token) return hull_of_tokens(m, blocks, 0, m.queries - 1, key, end);
  return hull_of_tokens(m, blocks, token, token + rows - 1, key, end);
}

// True if a token attends to a key; only the first `keys` keys are valid.
constexpr bool sees(const Mask& m, const BlockMask& blocks, std::uint32_t token, std::uint32_t key,
                    std::uint32_t keys) {
  const Visible v = visible_tokens(m, token, token, keys);
  const bool by_place = key < v.head || (key >= v.first && key < v.end);
  const bool by_map = !blocks.any() || blocks.at(token / m.block, key / m.block);
  return key < keys && by_place && by_map && !m.hides(m.history + token, key);
}
// Number of keys to which a token attends.
constexpr std::uint32_t count_of_token(const Mask& m, const BlockMask& blocks, std::uint32_t token,
                                       std::uint32_t keys) {
  const Visible v = visible_tokens(m, token, token, keys);
  std::uint32_t count = 0;
  if (m.has_patterns()) {
    for (std::uint32_t key = 0; key < keys; ++key) count += sees(m, blocks, token, key, keys) ? 1 : 0;
    return count;
  }
  if (!blocks.any()) return v.count();
  for (std::uint32_t k = 0; k < keys; k += m.block) {
    if (!blocks.at(token / m.block, k / m.block)) continue;
    const auto within = [&](std::uint32_t from, std::uint32_t to) {
      const std::uint32_t low = from > k ? from : k, high = to < k + m.block ? to : k + m.block;
      return low < high ? high - low : 0;
    };
    count += within(0, v.head) + within(v.first, v.end);
  }
  return count;
}

// The part of the map that a command needs whose first row and column are query `row` and key `key`. A descriptor
// stores it as consecutive rows of `columns` bits.
struct BlockWindow {
  std::uint32_t first_row, rows, first_column, columns;
  constexpr std::uint32_t bits() const { return rows * columns; }
  // Position of map bit (row, column) within the window.
  constexpr std::uint32_t bit(std::uint32_t row, std::uint32_t column) const {
    return (row - first_row) * columns + column - first_column;
  }
};
constexpr BlockWindow window_of(const Mask& m, std::uint32_t row, std::uint32_t rows, std::uint32_t key,
                                std::uint32_t keys) {
  const std::uint32_t b = m.block, token = row % m.queries, first = key / b;
  const std::uint32_t columns = (key + keys - 1) / b - first + 1;
  if (rows > m.queries - token) return {0, (m.queries - 1) / b + 1, first, columns};
  return {token / b, (token + rows - 1) / b - token / b + 1, first, columns};
}

}  // namespace attnvp::hal
