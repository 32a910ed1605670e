// Attention masks: which keys a query attends to. Firmware distributes work by this table, engines mask by it, and the
// golden reference checks both against it. New token t is at position p = history + t, behind `history` keys. Rows of a
// query matrix are tokens; with grouped queries the tokens repeat every `queries` rows.
//
// Positional masks leave ranges of keys (visible_tokens). A mask that hides single keys by position needs a MaskKind
// and a row of kMaskKinds with its function `hides`. It becomes a network key with values 0 and 1 and a bit of
// Mask::bits.
#pragma once

#include <cstdint>

namespace attnvp::hal {

constexpr std::uint32_t kUnitScale = 0x3F80'0000;  // FP32 bit pattern of 1.0, so that processors need no FPU

enum class MaskKind : std::uint8_t { kCausal, kWindow, kSinks, kPrefix, kBlocks, kPadded };

struct MaskKindInfo {
  MaskKind kind;
  const char* name;   // key in the network description
  const char* about;  // keys to which a query at position p attends
  bool by_place;      // positional: leaves ranges of keys
  // Its bit in Mask::bits; 0: it has a field of its own.
  std::uint8_t bit;
  // For such a bit: true if the token at `position` does not attend to `key`; nullptr: not decided by positions alone.
  bool (*hides)(std::uint32_t position, std::uint32_t key);
};

inline constexpr MaskKindInfo kMaskKinds[] = {
    {MaskKind::kCausal, "causal", "keys up to p", true, 0, nullptr},
    {MaskKind::kWindow, "window", "keys fewer than so many away from p", true, 0, nullptr},
    {MaskKind::kSinks, "sinks", "besides, the first keys, of those up to p where it is causal", true, 0, nullptr},
    {MaskKind::kPrefix, "prefix", "besides, the first keys, whatever p is", true, 0, nullptr},
    {MaskKind::kBlocks, "block_mask", "of these those that a map of blocks of tokens x keys (block_mask.h) lets it see",
     false, 0, nullptr},
    {MaskKind::kPadded, "valid", "and that are among the first ones of its batch, which has a number of its own", false,
     1, nullptr},
};

constexpr std::uint8_t bit_of(MaskKind kind) { return kMaskKinds[static_cast<std::uint8_t>(kind)].bit; }
// Bits of the kinds that hide single keys.
constexpr std::uint8_t pattern_bits() {
  std::uint8_t bits = 0;
  for (const MaskKindInfo& kind : kMaskKinds) {
    if (kind.hides != nullptr) bits = static_cast<std::uint8_t>(bits | kind.bit);
  }
  return bits;
}
constexpr std::uint8_t kPatterns = pattern_bits();

struct Mask {
  std::uint8_t causal;    // 0 or 1
  std::uint8_t bits;      // MaskKindInfo::bit of each kind in use
  std::uint16_t block;    // tokens per block, a power of two; 0: no block map
  std::uint32_t queries;  // new tokens: rows of one head
  std::uint32_t history;
  std::uint32_t window;  // 0: none
  std::uint32_t sinks, prefix;
  constexpr bool by_place() const { return causal != 0 || window != 0; }
  // True if keys are hidden that visible_tokens does not account for.
  constexpr bool by_key() const { return block != 0 || bits != 0; }
  constexpr bool any() const { return by_place() || by_key(); }
  constexpr bool is_padded() const { return (bits & bit_of(MaskKind::kPadded)) != 0; }
  constexpr bool has_patterns() const { return (bits & kPatterns) != 0; }
  constexpr bool hides(std::uint32_t position, std::uint32_t key) const {
    for (const MaskKindInfo& kind : kMaskKinds) {
      if (kind.hides != nullptr && (bits & kind.bit) != 0 && kind.hides(position, key)) return true;
    }
    return false;
  }
};

// Visible keys: [0, head) and [first, end); head = 0 or head < first.
struct Visible {
  std::uint32_t head = 0, first = 0, end = 0;
  constexpr std::uint32_t count() const { return head + (end - first); }
};

// Superset of the keys, out of `keys`, to which at least one of the tokens [from, to] of a head attends. It ignores
// block maps, batch lengths and patterns.
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

// As visible_tokens, for `rows` rows of queries from `row` on.
constexpr Visible visible_rows(const Mask& m, std::uint32_t row, std::uint32_t rows, std::uint32_t keys) {
  if (!m.by_place()) return {0, 0, keys};
  const std::uint32_t token = row % m.queries;
  if (rows > m.queries - token) return visible_tokens(m, 0, m.queries - 1, keys);
  return visible_tokens(m, token, token + rows - 1, keys);
}

// True if all of these rows attend to all keys [key, key + count), by position only.
constexpr bool all_visible(const Mask& m, std::uint32_t row, std::uint32_t rows, std::uint32_t key,
                           std::uint32_t count) {
  if (m.has_patterns()) return false;
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
