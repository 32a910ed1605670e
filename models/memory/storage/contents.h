// Bytes of memories behind the bus: of a main memory, and of an L1 with its register for allocations. Memories of all
// timings share them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tlm>

#include "models/memory/storage/host_memory.h"
#include "models/memory/storage/paged_memory.h"

namespace attnvp {

// Bytes of a memory, and the check of its transactions.
class Contents {
 public:
  // Throws std::bad_alloc if the host lacks the address space.
  Contents(std::uint64_t base, std::uint64_t bytes) : base_(base), memory_(bytes) {}

  // Refuses, with an error response, transactions without bytes, beyond the memory, with byte enables, or neither read
  // nor write.
  bool accepts(tlm::tlm_generic_payload& payload) const;
  std::uint64_t offset(const tlm::tlm_generic_payload& payload) const { return payload.get_address() - base_; }
  // Moves the bytes of an accepted transaction and sets an OK response. With TimingOnlyExtension no bytes move.
  void serve(tlm::tlm_generic_payload& payload);
  unsigned peek(tlm::tlm_generic_payload& payload);  // transport_dbg

 private:
  bool inside(const tlm::tlm_generic_payload& payload) const;
  void move(tlm::tlm_generic_payload& payload);

  std::uint64_t base_;
  PagedMemory memory_;
};

// Bytes of an L1 and the register for allocations of firmware (firmware/hal/registers.h, kL1Allocated).
class L1Contents {
 public:
  // Without `full_data` no bytes are stored.
  L1Contents(const std::string& owner, std::uint64_t base, std::uint64_t size_bytes, bool full_data);

  bool empty() const { return memory_.empty(); }
  unsigned char* at(std::uint64_t address) { return memory_.data() + (address - base_); }
  void clear() { memory_.clear(); }
  // Moves the payload's bytes as transport_dbg does; returns their number.
  unsigned move(tlm::tlm_generic_payload& payload);
  bool direct(tlm::tlm_dmi& dmi);  // get_direct_mem_ptr

  struct Allocation {
    std::uint64_t bytes = 0, tag = 0;
  };
  // Decodes a write to the allocator's register; nullopt, with an error response, for any other access.
  static std::optional<Allocation> allocation_of(tlm::tlm_generic_payload& payload);
  // Takes host memory for the allocated bytes; false if the host has too little.
  bool reserve(std::uint64_t bytes) { return memory_.empty() || host_.raise_to(bytes); }

 private:
  std::uint64_t base_, size_bytes_;
  PagedMemory memory_;
  host_memory::MemoryShare host_;
};

}  // namespace attnvp
