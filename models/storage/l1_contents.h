// The bytes of an L1, and the register by which firmware's allocator tells how many it holds (firmware/hal/registers.h,
// kL1Allocated): the part that L1 models of every timing share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tlm>

#include "models/storage/host_memory.h"
#include "models/storage/paged_memory.h"

namespace attnvp {

class L1Contents {
 public:
  // `full_data` false: there are no bytes.
  L1Contents(const std::string& owner, std::uint64_t base, std::uint64_t size_bytes, bool full_data);

  bool empty() const { return memory_.empty(); }
  unsigned char* at(std::uint64_t address) { return memory_.data() + (address - base_); }
  void clear() { memory_.clear(); }
  // Moves the payload's bytes, as transport_dbg does; how many.
  unsigned move(tlm::tlm_generic_payload& payload);
  bool direct(tlm::tlm_dmi& dmi);  // get_direct_mem_ptr

  struct Allocation {
    std::uint64_t bytes = 0, tag = 0;
  };
  // A write to the allocator's register; none: another access, and the response says so.
  static std::optional<Allocation> allocation_of(tlm::tlm_generic_payload& payload);
  // Takes that much of the host's memory, as firmware will touch what it allocates; false: the host has no more.
  bool reserve(std::uint64_t bytes) { return memory_.empty() || host_.raise_to(bytes); }

 private:
  std::uint64_t base_, size_bytes_;
  PagedMemory memory_;
  host_memory::Share host_;
};

}  // namespace attnvp
