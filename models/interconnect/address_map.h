// Address map of the platform, and its partition for simultaneous jobs.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "firmware/hal/descriptor.h"
#include "firmware/hal/registers.h"

namespace attnvp {

struct AddressRange {
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  std::string name;
  bool memory = false;  // bytes that a DMA controller may copy; false: registers
  std::uint64_t end() const { return base + bytes; }
};

// Address map, used by the interconnect; `attnvp describe` prints it. Addresses and sizes in bytes.
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

// Partition of a machine for one of several simultaneous jobs. In its firmware's view, clusters are numbered from 0,
// and mailbox, DRAM and L2 are at their usual base addresses. These addresses are translated to the platform's address
// map (place()). Translation takes place at the control processor's port and at the command queues, in zero time. It
// does not protect partitions from each other.
struct Partition {
  std::uint32_t first_cluster = 0;
  std::uint64_t mailbox = 0, dram = 0, l2 = 0;  // offset in bytes from the machine's base to that of the partition

  std::uint64_t place(std::uint64_t address) const {
    if (address >= hal::kL1Base) return address + first_cluster * hal::kL1Stride;
    if (address >= hal::kL2Base) return address + l2;
    if (address >= hal::kDramBase) return address + dram;
    if (address >= hal::kControlBase) return address + first_cluster * hal::kClusterStride;
    if (address >= hal::kMailboxBase) return address + mailbox;
    return address;
  }
  void place(hal::Descriptor& d) const {
    for (hal::Operand& operand : d.operand) operand.address = place(operand.address);
    if (d.remote > 0) d.remote += first_cluster;
  }
};

}  // namespace attnvp
