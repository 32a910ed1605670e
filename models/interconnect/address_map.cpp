#include "models/interconnect/address_map.h"

#include <algorithm>

namespace attnvp {

std::size_t AddressMap::add(AddressRange range) {
  for (const AddressRange& other : ranges_) {
    if (range.base < other.end() && other.base < range.end()) {
      throw std::invalid_argument("address ranges of " + range.name + " and " + other.name + " overlap");
    }
  }
  const std::size_t index = ranges_.size();
  const std::pair<std::uint64_t, std::size_t> key{range.base, index};
  by_base_.insert(std::lower_bound(by_base_.begin(), by_base_.end(), key), key);
  ranges_.push_back(std::move(range));
  return index;
}

int AddressMap::look_up(std::uint64_t address) const {
  auto above = std::upper_bound(by_base_.begin(), by_base_.end(), address,
                                [](std::uint64_t a, const auto& entry) { return a < entry.first; });
  if (above == by_base_.begin()) return -1;
  const std::size_t index = std::prev(above)->second;
  return address < ranges_[index].end() ? static_cast<int>(index) : -1;
}

std::vector<AddressRange> AddressMap::sorted() const {
  std::vector<AddressRange> out;
  for (const auto& entry : by_base_) out.push_back(ranges_[entry.second]);
  return out;
}

}  // namespace attnvp
