#include "models/interconnect/network/shared_reads.h"

#include <algorithm>

namespace attnvp {

SharedReads::Read* SharedReads::find(std::uint64_t address, std::uint64_t bytes, std::uint32_t node,
                                     std::uint64_t now) {
  const auto [first, last] = reads_.equal_range({address, bytes});
  for (auto at = first; at != last; ++at) {
    Read& read = at->second;
    const bool asked = std::find(read.nodes.begin(), read.nodes.end(), node) != read.nodes.end();
    if (!asked && !read.overwritten && read.leaves > now) return &read;
  }
  return nullptr;
}

SharedReads::Read& SharedReads::open(std::uint64_t address, std::uint64_t bytes, std::uint32_t node, std::size_t trip) {
  longest_ = std::max(longest_, bytes);
  Read& read = reads_.emplace(std::pair(address, bytes), Read{})->second;
  read.trip = trip;
  read.nodes.push_back(node);
  return read;
}

void SharedReads::close(const Read& read, std::uint64_t address, std::uint64_t bytes) {
  const auto [first, last] = reads_.equal_range({address, bytes});
  reads_.erase(std::find_if(first, last, [&](const auto& entry) { return &entry.second == &read; }));
}

void SharedReads::written(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t begin = address - std::min(address, longest_), end = address + bytes;
  for (auto at = reads_.lower_bound({begin, 0}); at != reads_.end() && at->first.first < end; ++at) {
    if (at->first.first + at->first.second > address) at->second.overwritten = true;
  }
}

}  // namespace attnvp
