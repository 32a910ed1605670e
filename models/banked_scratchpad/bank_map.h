// Which bank a byte of L1 is in, and which banks the beats of a region need.
//
// A beat is what a port moves in a cycle: the next bytes of the region, row after row, or of `together` rows a word of
// each in turn. A beat never crosses the region's end. Each of its words is read or written once; words of one bank
// take a cycle each.
#pragma once

#include <cstdint>
#include <vector>

#include "models/banked_scratchpad/config.h"
#include "models/bus/stream.h"

namespace attnvp {

struct BankMap {
  static constexpr std::uint32_t kMostBanks = 64;
  std::uint32_t banks = 16;
  std::uint64_t word_bytes = 32;
  std::uint64_t interleave_bytes = 32;
  Swizzle swizzle = Swizzle::kNone;  // kXor: banks are a power of two

  std::uint32_t bank(std::uint64_t offset) const {
    const std::uint64_t block = offset / interleave_bytes;
    const std::uint64_t across = swizzle == Swizzle::kXor ? block / banks % banks : 0;
    return static_cast<std::uint32_t>((block % banks) ^ across);
  }
  // Banks are the same again after so many bytes.
  std::uint64_t period_bytes() const {
    return banks * interleave_bytes * (swizzle == Swizzle::kXor ? banks : std::uint64_t{1});
  }
};

// Beats that repeat. The first mask of a beat has all banks that it needs, the next those that it needs a second time,
// and so on.
class BeatTable {
 public:
  std::uint64_t beats() const { return first_.size() - 1; }
  const std::uint64_t* begin(std::uint64_t beat) const { return masks_.data() + first_[beat]; }
  std::uint32_t masks(std::uint64_t beat) const { return first_[beat + 1] - first_[beat]; }
  // Words of each bank, so many times, are added.
  void add_words(std::uint64_t beat, std::uint64_t times, std::vector<std::uint64_t>& words) const;
  // Banks of the beat's words, each word once.
  void add(const std::vector<std::uint32_t>& banks);

 private:
  std::vector<std::uint64_t> masks_;
  std::vector<std::uint32_t> first_{0};
};

// Beats of a region, from its first byte to its last: as often as they repeat, then the rest.
class RegionBeats {
 public:
  RegionBeats(const BankMap& map, std::uint64_t port_bytes, const Region& region);  // address: offset in L1

  struct Leg {
    BeatTable table;
    std::uint64_t beats = 0, bytes = 0;  // those of the table, again and again
  };
  const std::vector<Leg>& legs() const { return legs_; }
  // Of the region taken over and over, until so many bytes have crossed.
  std::uint64_t beats_of(std::uint64_t bytes) const;
  // Words of each bank in so many beats are added.
  void add_words(std::uint64_t beats, std::vector<std::uint64_t>& words) const;

 private:
  void add_leg(const BankMap& map, const Region& rows, std::uint64_t times);
  std::uint64_t port_bytes_, bytes_ = 0, beats_ = 0;
  std::vector<Leg> legs_;
};

}  // namespace attnvp
