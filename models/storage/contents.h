// What is in a memory behind the bus, and which transactions may touch it: what memories of every timing have in
// common.
#pragma once

#include <cstdint>
#include <tlm>

#include "models/storage/paged_memory.h"

namespace attnvp {

class Contents {
 public:
  // Throws std::bad_alloc where the host has no such address space.
  Contents(std::uint64_t base, std::uint64_t bytes) : base_(base), memory_(bytes) {}

  // False, and the response says so: of no bytes or beyond the memory, with byte enables, neither read nor write.
  bool accepts(tlm::tlm_generic_payload& payload) const;
  std::uint64_t offset(const tlm::tlm_generic_payload& payload) const { return payload.get_address() - base_; }
  // Moves the bytes of an accepted transaction, unless nobody will look at them (TimingOnlyExtension); the response is
  // OK.
  void serve(tlm::tlm_generic_payload& payload);
  unsigned peek(tlm::tlm_generic_payload& payload);  // transport_dbg

 private:
  bool inside(const tlm::tlm_generic_payload& payload) const;
  void move(tlm::tlm_generic_payload& payload);

  std::uint64_t base_;
  PagedMemory memory_;
};

}  // namespace attnvp
