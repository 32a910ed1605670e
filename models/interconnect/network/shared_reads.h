// Table of outstanding reads of a memory. Another cluster that reads the same bytes may join one; the response then
// goes to all of them (multicast). A cluster never joins its own read, since a response delivers the bytes once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace attnvp {

class SharedReads {
 public:
  struct Read {
    std::size_t trip = 0;               // trip of the request
    std::vector<std::uint32_t> nodes;   // that have requested the bytes
    std::vector<std::size_t> others;    // trips that joined before the time of the response was known
    std::size_t packet = 0;             // packet of the response,
    std::uint64_t leaves = UINT64_MAX;  // which leaves in this network cycle, once known
    bool overwritten = false;           // later writes; no more joins
  };

  // A read of these bytes that `node` can join; nullptr: none.
  Read* find(std::uint64_t address, std::uint64_t bytes, std::uint32_t node, std::uint64_t now);
  Read& open(std::uint64_t address, std::uint64_t bytes, std::uint32_t node, std::size_t trip);
  void close(const Read& read, std::uint64_t address, std::uint64_t bytes);
  void written(std::uint64_t address, std::uint64_t bytes);
  void clear() { reads_.clear(); }

 private:
  std::multimap<std::pair<std::uint64_t, std::uint64_t>, Read> reads_;  // by address and length
  std::uint64_t longest_ = 0;
};

}  // namespace attnvp
