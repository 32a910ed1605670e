// Beats of whole streams, with a cache for repeated streams.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "models/interconnect/bus/stream.h"
#include "models/memory/banked_scratchpad/bank_map.h"

namespace attnvp {

// Beats of a stream's regions, one region after the other.
struct StreamBeats {
  struct Part {
    std::shared_ptr<const RegionBeats> region;
    std::uint64_t region_number = 0, beats = 0;
  };
  std::uint64_t number = 0;          // unique number
  std::vector<Part> parts;           // regions with traffic
  std::uint64_t beats = 0;           // of all parts
  std::vector<std::uint64_t> words;  // by bank, of all beats
};

class StreamCache {
 public:
  StreamCache(const BankMap& map, std::uint64_t port_bytes, std::uint64_t base)
      : map_(map), port_bytes_(port_bytes), base_(base) {}
  std::shared_ptr<const StreamBeats> of(const Stream& stream);

 private:
  static constexpr std::size_t kMost = 4096;
  static constexpr std::size_t kOfRegion = 6;  // numbers that identify a region
  using Key = std::array<std::uint64_t, 4 * kOfRegion>;
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  StreamBeats beats_of(const Key& key);

  BankMap map_;
  std::uint64_t port_bytes_, base_;
  std::uint64_t numbers_ = 0;
  std::unordered_map<Key, StreamBeats::Part, Hash> regions_;
  std::unordered_map<Key, std::shared_ptr<const StreamBeats>, Hash> streams_;
};

}  // namespace attnvp
