#include "models/memory/banked_scratchpad/stream_beats.h"

#include <algorithm>
#include <boost/container_hash/hash.hpp>

namespace attnvp {

std::size_t StreamCache::Hash::operator()(const Key& key) const {
  auto end = key.begin();
  while (end != key.end() && end[1] > 0) end += kOfRegion;
  return boost::hash_range(key.begin(), end);
}

std::shared_ptr<const StreamBeats> StreamCache::of(const Stream& stream) {
  Key key{};
  auto at = key.begin();
  for (int i = 0; i < stream.regions; ++i) {
    const Region& r = stream.region[static_cast<std::size_t>(i)];
    if (r.traffic_bytes == 0) continue;
    *at++ = (r.address - base_) % map_.period_bytes();
    *at++ = r.rows;
    *at++ = r.row_bytes;
    *at++ = r.rows > 1 ? r.row_stride : 0;
    *at++ = r.together;
    *at++ = r.traffic_bytes;
  }
  if (const auto known = streams_.find(key); known != streams_.end()) return known->second;
  if (streams_.size() >= kMost) {
    streams_.clear();
    regions_.clear();
  }
  return streams_.emplace(key, std::make_shared<const StreamBeats>(beats_of(key))).first->second;
}

StreamBeats StreamCache::beats_of(const Key& key) {
  StreamBeats stream;
  stream.number = numbers_++;
  stream.words.resize(map_.banks);
  for (auto at = key.begin(); at != key.end() && at[kOfRegion - 1] > 0; at += kOfRegion) {
    Key of_region{};
    std::copy_n(at, kOfRegion - 1, of_region.begin());
    StreamBeats::Part& part = regions_[of_region];
    if (part.region == nullptr) {
      const Region region{at[0], at[1], at[2], at[3], 0, false, static_cast<std::uint32_t>(at[4])};
      part = {std::make_shared<const RegionBeats>(map_, port_bytes_, region), numbers_++, 0};
    }
    stream.parts.push_back(part);
    const std::uint64_t beats = part.region->beats_of(at[kOfRegion - 1]);
    stream.parts.back().beats = beats;
    stream.beats += beats;
    part.region->add_words(beats, stream.words);
  }
  return stream;
}

}  // namespace attnvp
