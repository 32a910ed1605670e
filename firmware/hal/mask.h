// Which keys a query attends to. Firmware deals work out by it, engines mask by it, the golden check holds both to it.
//
// Token t of the new ones stands behind `history` keys, at p = history + t. It attends to
//   causal            keys up to p
//   window w          keys fewer than w away from p
//   sinks             besides, the first keys, of those up to p where it is causal
//   prefix            besides, the first keys, whatever p is
//   block b           of these those that a map of blocks of b new tokens x b keys (block_mask.h) lets it see
//   padded            and that are among the first ones of its batch, which has a number of its own
// Rows of a matrix of queries are tokens; with grouped queries they begin anew every `queries` rows. The functions here
// know neither the map nor the batches: with them keys that they call visible may be hidden, no others.
#pragma once

#include <cstdint>

namespace attnvp::hal {

constexpr std::uint32_t kUnitScale = 0x3F80'0000;  // of scores: FP32, its bits, so that processors need no FPU

struct Mask {
  std::uint8_t causal, padded;  // 0 or 1
  std::uint16_t block;          // tokens of a block, a power of two; 0: no map
  std::uint32_t queries;        // new tokens: rows of one head
  std::uint32_t history;
  std::uint32_t window;  // 0: none
  std::uint32_t sinks, prefix;
  constexpr bool by_place() const { return causal != 0 || window != 0; }
  constexpr bool any() const { return by_place() || block != 0 || padded != 0; }
};

// Keys [0, head) and [first, end); head = 0 or head < first.
struct Visible {
  std::uint32_t head = 0, first = 0, end = 0;
  constexpr std::uint32_t count() const { return head + (end - first); }
};

// What at least one of the tokens [from, to] of a head attends to, of `keys` keys.
constexpr Visible visible_tokens(const Mask& m, std::uint32_t from, std::uint32_t to, std::uint32_t keys) {
  const auto least = [](std::uint32_t a, std::uint32_t b) { return a < b ? a : b; };
  if (!m.by_place()) return {0, 0, keys};
  const std::uint32_t low = m.history + from, high = m.history + to;  // positions
  Visible v;
  v.end = m.causal != 0 ? least(high + 1, keys) : least(high + m.window, keys);
  v.first = m.window != 0 && low + 1 > m.window ? least(low + 1 - m.window, v.end) : 0;
  v.head = least(m.sinks, m.causal != 0 ? least(high + 1, keys) : keys);
  if (m.prefix > v.head) v.head = least(m.prefix, keys);
  if (v.head < v.first) return v;
  return {0, 0, v.head > v.end ? v.head : v.end};
}

// The same for `rows` rows of queries from `row` on.
constexpr Visible visible_rows(const Mask& m, std::uint32_t row, std::uint32_t rows, std::uint32_t keys) {
  if (!m.by_place()) return {0, 0, keys};
  const std::uint32_t token = row % m.queries;
  if (rows > m.queries - token) return visible_tokens(m, 0, m.queries - 1, keys);
  return visible_tokens(m, token, token + rows - 1, keys);
}

// Whether all of these rows attend to all keys [key, key + count), as far as that follows from their places.
constexpr bool all_visible(const Mask& m, std::uint32_t row, std::uint32_t rows, std::uint32_t key,
                           std::uint32_t count) {
  if (!m.by_place()) return true;
  std::uint32_t from = row % m.queries, to = m.queries - 1;
  if (rows > m.queries - from) {
    from = 0;
  } else {
    to = from + rows - 1;
  }
  const Visible a = visible_tokens(m, from, from, key + count), b = visible_tokens(m, to, to, key + count);
  const bool head = key + count <= a.head;
  return head || (a.end == key + count && b.end == key + count && a.first <= key && b.first <= key);
}

}  // namespace attnvp::hal
