// Reads that a memory has been handed and that have not been answered yet: whoever asks for the same bytes meanwhile
// may join one, and the answer goes to all of them. A cluster joins none of its own, as an answer brings it its bytes
// once.
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
    std::size_t trip = 0;               // that brought it
    std::vector<std::uint32_t> nodes;   // that have asked
    std::vector<std::size_t> others;    // trips of those who joined before the memory told when it answers
    std::size_t packet = 0;             // the answer,
    std::uint64_t leaves = UINT64_MAX;  // which does at this cycle of the network, once that is known
    bool overwritten = false;           // since: nobody joins any more
  };

  // One for those bytes that a node can join now; nullptr: none.
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
