// Address map of the platform, used by the interconnect; `attnvp describe` prints it. Addresses and sizes in bytes.
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
  bool memory = false;  // bytes that a DMA controller may copy; false: registers
  std::uint64_t end() const { return base + bytes; }
};

class AddressMap {
 public:
  // Adds a range and returns its index. Ranges may come in any order; overlaps throw std::invalid_argument.
  std::size_t add(AddressRange range);
  // Index of the range that holds the address, or -1.
  int find(std::uint64_t address) const {
    int& last = last_[(address >> 12 ^ address >> 20 ^ address >> 32) % kRemembered];
    if (last < 0 || !holds(last, address)) last = look_up(address);
    return last;
  }
  bool holds(int index, std::uint64_t address) const {
    return address - range(index).base < range(index).bytes;  // the difference wraps around below the base
  }
  const AddressRange& range(int index) const { return ranges_[static_cast<std::size_t>(index)]; }
  const std::vector<AddressRange>& ranges() const { return ranges_; }
  std::vector<AddressRange> sorted() const;

 private:
  int look_up(std::uint64_t address) const;

  std::vector<AddressRange> ranges_;
  std::vector<std::pair<std::uint64_t, std::size_t>> by_base_;  // sorted
  // Cache of results, indexed by address bits; ranges consist of whole pages.
  static constexpr std::size_t kRemembered = 64;
  mutable std::vector<int> last_ = std::vector<int>(kRemembered, -1);
};

}  // namespace attnvp
