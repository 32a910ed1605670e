#include "models/memory/banked_scratchpad/bank_map.h"

#include <algorithm>
#include <boost/container_hash/hash.hpp>
#include <numeric>

namespace attnvp {

namespace {
std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }
}  // namespace

void BeatTable::add(const std::vector<std::uint32_t>& banks) {
  const std::size_t begin = masks_.size();
  for (const std::uint32_t bank : banks) {
    std::size_t level = begin;
    while (level < masks_.size() && (masks_[level] >> bank & 1) != 0) ++level;
    if (level == masks_.size()) masks_.push_back(0);
    masks_[level] |= std::uint64_t{1} << bank;
  }
  first_.push_back(static_cast<std::uint32_t>(masks_.size()));
}

void BeatTable::add_words(std::uint64_t beat, std::uint64_t times, std::vector<std::uint64_t>& words) const {
  for (std::uint32_t i = 0; i < masks(beat); ++i) {
    for (std::uint64_t mask = begin(beat)[i]; mask != 0; mask &= mask - 1) {
      words[static_cast<std::size_t>(__builtin_ctzll(mask))] += times;
    }
  }
}

RegionBeats::RegionBeats(const BankMap& map, std::uint64_t port_bytes, const Region& region) : port_bytes_(port_bytes) {
  Region r = region;
  r.together = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(r.together, 1, r.rows));
  if (r.together == 1 && (r.rows == 1 || r.row_stride == r.row_bytes)) {  // contiguous, cut at the period of the banks
    const std::uint64_t bytes = r.rows * r.row_bytes;
    r.row_bytes = r.row_stride = std::min(bytes, std::lcm(map.period_bytes(), port_bytes));
    r.rows = bytes / r.row_bytes;
    if (const std::uint64_t rest = bytes % r.row_bytes; rest > 0) {
      add_leg(map, {r.address, 1, r.row_bytes, r.row_bytes}, r.rows);
      add_leg(map, {r.address + bytes - rest, 1, rest, rest}, 1);
    } else {
      add_leg(map, {r.address, 1, r.row_bytes, r.row_bytes}, r.rows);
    }
    return;
  }
  const std::uint64_t panel_stride = r.together * r.row_stride, panel_bytes = r.together * r.row_bytes;
  const std::uint64_t again = std::lcm(map.period_bytes() / std::gcd(panel_stride, map.period_bytes()),
                                       port_bytes / std::gcd(panel_bytes, port_bytes));  // period in panels
  const std::uint64_t times = r.rows / r.together / again, rows = again * r.together;
  Region part = r;
  part.rows = rows;
  if (times > 0) add_leg(map, part, times);
  part.address += times * rows * r.row_stride;
  part.rows = r.rows - times * rows;
  if (part.rows > 0) add_leg(map, part, 1);
}

void RegionBeats::add_leg(const BankMap& map, const Region& r, std::uint64_t times) {
  Leg leg;
  std::vector<std::uint64_t> words;
  std::vector<std::uint32_t> banks;
  std::uint64_t left = port_bytes_;
  const auto close = [&] {
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    banks.clear();
    for (const std::uint64_t word : words) banks.push_back(map.bank(word * map.word_bytes));
    leg.table.add(banks);
    words.clear();
    left = port_bytes_;
  };
  const auto take = [&](std::uint64_t address, std::uint64_t bytes) {
    while (bytes > 0) {
      const std::uint64_t n = std::min(left, bytes);
      for (std::uint64_t w = address / map.word_bytes; w <= (address + n - 1) / map.word_bytes; ++w) words.push_back(w);
      address += n;
      bytes -= n;
      left -= n;
      if (left == 0) close();
    }
  };
  for (std::uint64_t first = 0; first < r.rows; first += r.together) {
    const std::uint64_t end = std::min<std::uint64_t>(first + r.together, r.rows);
    const std::uint64_t piece = r.together == 1 ? r.row_bytes : map.word_bytes;
    for (std::uint64_t at = 0; at < r.row_bytes; at += piece) {
      for (std::uint64_t row = first; row < end; ++row) {
        take(r.address + row * r.row_stride + at, std::min(piece, r.row_bytes - at));
      }
    }
  }
  if (!words.empty()) close();
  leg.beats = leg.table.beats() * times;
  leg.bytes = r.rows * r.row_bytes * times;
  beats_ += leg.beats;
  bytes_ += leg.bytes;
  legs_.push_back(std::move(leg));
}

std::uint64_t RegionBeats::beats_of(std::uint64_t bytes) const {
  std::uint64_t beats = bytes / bytes_ * beats_, rest = bytes % bytes_;
  for (const Leg& leg : legs_) {
    const std::uint64_t here = std::min(rest, leg.bytes);
    beats += ceil_div(here, port_bytes_);
    rest -= here;
  }
  return beats;
}

void RegionBeats::add_words(std::uint64_t beats, std::vector<std::uint64_t>& words) const {
  for (const Leg& leg : legs_) {
    const std::uint64_t here = beats / beats_ * leg.beats;  // of whole repetitions
    const std::uint64_t before = static_cast<std::uint64_t>(&leg - legs_.data()) == 0 ? 0 : legs_.front().beats;
    const std::uint64_t rest = beats % beats_;
    const std::uint64_t more = rest > before ? std::min(rest - before, leg.beats) : 0;
    const std::uint64_t all = here + more, n = leg.table.beats();
    for (std::uint64_t i = 0; i < n && i < all; ++i) {
      leg.table.add_words(i, all / n + (i < all % n ? 1 : 0), words);
    }
  }
}

std::size_t StreamCache::StreamKeyHash::operator()(const StreamKey& key) const {
  auto end = key.begin();
  while (end != key.end() && end[1] > 0) end += kOfRegion;
  return boost::hash_range(key.begin(), end);
}

std::shared_ptr<const StreamBeats> StreamCache::of(const Stream& stream) {
  StreamKey key{};
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

StreamBeats StreamCache::beats_of(const StreamKey& key) {
  StreamBeats stream;
  stream.number = numbers_++;
  stream.words.resize(map_.banks);
  for (auto at = key.begin(); at != key.end() && at[kOfRegion - 1] > 0; at += kOfRegion) {
    StreamKey of_region{};
    std::copy_n(at, kOfRegion - 1, of_region.begin());
    StreamBeats::BeatPart& part = regions_[of_region];
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
