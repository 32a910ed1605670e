// Mapping of bytes of L1 to banks, and the banks that the beats of regions and of whole streams need.
//
// A beat is the data that a port moves in one cycle. It holds the next bytes of the region, row after row, or one word
// each of `together` rows in turn. A beat does not cross the region's end. Each of its words is accessed once; words of
// one bank take one cycle each.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "models/interconnect/bus/stream.h"
#include "models/memory/config.h"

namespace attnvp {

struct BankMap {
  static constexpr std::uint32_t kMostBanks = 64;
  std::uint32_t banks = 16;
  std::uint64_t word_bytes = 32;
  std::uint64_t interleave_bytes = 32;
  Swizzle swizzle = Swizzle::kNone;  // kXor: the number of banks is a power of two

  std::uint32_t bank(std::uint64_t offset) const {
    const std::uint64_t block = offset / interleave_bytes;
    const std::uint64_t across = swizzle == Swizzle::kXor ? block / banks % banks : 0;
    return static_cast<std::uint32_t>((block % banks) ^ across);
  }
  std::uint64_t period_bytes() const {
    return banks * interleave_bytes * (swizzle == Swizzle::kXor ? banks : std::uint64_t{1});
  }
};

// Repeating sequence of beats. The first mask of a beat has all banks that it needs, the second those that it needs
// twice, and so on.
class BeatTable {
 public:
  std::uint64_t beats() const { return first_.size() - 1; }
  const std::uint64_t* begin(std::uint64_t beat) const { return masks_.data() + first_[beat]; }
  std::uint32_t masks(std::uint64_t beat) const { return first_[beat + 1] - first_[beat]; }
  // Adds the words of a beat, `times` times, to the counts of the banks.
  void add_words(std::uint64_t beat, std::uint64_t times, std::vector<std::uint64_t>& words) const;
  // `banks`: bank of each word of the beat.
  void add(const std::vector<std::uint32_t>& banks);

 private:
  std::vector<std::uint64_t> masks_;
  std::vector<std::uint32_t> first_{0};
};

// Beats of a region from its first byte to its last: a repeating part, then the rest.
class RegionBeats {
 public:
  RegionBeats(const BankMap& map, std::uint64_t port_bytes, const Region& region);  // region.address: offset in L1

  struct Leg {
    BeatTable table;
    std::uint64_t beats = 0, bytes = 0;  // totals, with the table repeated
  };
  const std::vector<Leg>& legs() const { return legs_; }
  // Beats until `bytes` bytes have crossed, with the region repeated.
  std::uint64_t beats_of(std::uint64_t bytes) const;
  // Adds the words of the first `beats` beats to the counts of the banks.
  void add_words(std::uint64_t beats, std::vector<std::uint64_t>& words) const;

 private:
  void add_leg(const BankMap& map, const Region& rows, std::uint64_t times);
  std::uint64_t port_bytes_, bytes_ = 0, beats_ = 0;
  std::vector<Leg> legs_;
};

// Beats of a stream's regions, one region after the other.
struct StreamBeats {
  struct BeatPart {
    std::shared_ptr<const RegionBeats> region;
    std::uint64_t region_number = 0, beats = 0;
  };
  std::uint64_t number = 0;          // unique number
  std::vector<BeatPart> parts;       // regions with traffic
  std::uint64_t beats = 0;           // of all parts
  std::vector<std::uint64_t> words;  // by bank, of all beats
};

// Cache of the beats of repeated streams.
class StreamCache {
 public:
  StreamCache(const BankMap& map, std::uint64_t port_bytes, std::uint64_t base)
      : map_(map), port_bytes_(port_bytes), base_(base) {}
  std::shared_ptr<const StreamBeats> of(const Stream& stream);

 private:
  static constexpr std::size_t kMost = 4096;
  static constexpr std::size_t kOfRegion = 6;  // numbers that identify a region
  using StreamKey = std::array<std::uint64_t, 4 * kOfRegion>;
  struct StreamKeyHash {
    std::size_t operator()(const StreamKey& key) const;
  };
  StreamBeats beats_of(const StreamKey& key);

  BankMap map_;
  std::uint64_t port_bytes_, base_;
  std::uint64_t numbers_ = 0;
  std::unordered_map<StreamKey, StreamBeats::BeatPart, StreamKeyHash> regions_;
  std::unordered_map<StreamKey, std::shared_ptr<const StreamBeats>, StreamKeyHash> streams_;
};

}  // namespace attnvp
