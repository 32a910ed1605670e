// The platform's one address map: what the interconnect decodes and `attnvp describe` prints.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace attnvp {

struct AddressRange {
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  std::string name;
  bool memory = false;  // bytes that a DMA controller may copy; otherwise registers
  std::uint64_t end() const { return base + bytes; }
};

class AddressMap {
 public:
  // Ranges may come in any order but must not overlap (std::invalid_argument). Returns the range's index.
  std::size_t add(AddressRange range);
  // Index of the range that holds the address, or -1.
  int find(std::uint64_t address) const {
    int& last = last_[(address >> 12 ^ address >> 20 ^ address >> 32) % kRemembered];
    if (last < 0 || !holds(last, address)) last = look_up(address);
    return last;
  }
  bool holds(int index, std::uint64_t address) const {
    return address - range(index).base < range(index).bytes;  // an address below wraps around to a large number
  }
  const AddressRange& range(int index) const { return ranges_[static_cast<std::size_t>(index)]; }
  const std::vector<AddressRange>& ranges() const { return ranges_; }
  std::vector<AddressRange> sorted() const;

 private:
  int look_up(std::uint64_t address) const;

  std::vector<AddressRange> ranges_;
  std::vector<std::pair<std::uint64_t, std::size_t>> by_base_;  // sorted
  // What was found, by some bits of the address: windows are of whole pages.
  static constexpr std::size_t kRemembered = 64;
  mutable std::vector<int> last_ = std::vector<int>(kRemembered, -1);
};

}  // namespace attnvp
