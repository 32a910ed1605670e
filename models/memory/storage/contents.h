// Bytes of a memory behind the bus, and the check of its transactions. Memories of all timings share it.
#pragma once

#include <cstdint>
#include <tlm>

#include "models/memory/storage/paged_memory.h"

namespace attnvp {

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

}  // namespace attnvp
