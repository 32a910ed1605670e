// Memory that a hart accesses within a cycle (tightly coupled memory or RAM), with its decoded instructions.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/control/riscv/decode.h"
#include "models/memory/storage/paged_memory.h"

namespace attnvp::riscv {

// All other addresses of a hart. An access starts at `cycle` of the hart's clock; the bus sets it to the cycle of the
// response.
class RiscvBus {
 public:
  virtual bool read(std::uint32_t address, void* data, std::uint32_t bytes, std::uint64_t& cycle) = 0;
  virtual bool write(std::uint32_t address, const void* data, std::uint32_t bytes, std::uint64_t& cycle) = 0;
  // Waits for the responses of all stores. False: an error response, at `address`.
  virtual bool fence(std::uint64_t& /*cycle*/, std::uint32_t& /*address*/) { return true; }
  virtual std::uint64_t time(std::uint64_t cycle) = 0;  // mtime

 protected:
  ~RiscvBus() = default;
};

constexpr std::uint32_t kPageBits = 12;
constexpr std::uint32_t kPageSlots = 1U << (kPageBits - 1);  // instructions start at even addresses

struct CodePage {
  std::uint32_t base = 0;
  Decoded slot[kPageSlots + 2];  // a 4-byte instruction may start in the last slot: both ends are kPageEnd
};

class RiscvMemory {
 public:
  RiscvMemory(std::uint32_t base, std::uint32_t bytes) : base_(base), bytes_(bytes), storage_(bytes), code_(pages()) {}

  std::uint32_t base() const { return base_; }
  std::uint32_t bytes() const { return bytes_; }
  unsigned char* data() { return storage_.data(); }
  bool holds(std::uint32_t address, std::uint32_t bytes) const {
    const std::uint32_t offset = address - base_;
    return offset < bytes_ && bytes_ - offset >= bytes;
  }
  // Accesses of others than the hart, such as a loader or debugger.
  bool peek(std::uint32_t address, void* data, std::uint32_t bytes);
  bool poke(std::uint32_t address, const void* data, std::uint32_t bytes);
  void clear();

  CodePage& code(std::uint32_t offset) {
    std::unique_ptr<CodePage>& page = code_[offset >> kPageBits];
    return page != nullptr ? *page : add_page(offset);
  }
  // Discards decoded instructions in bytes that were written, and in loads before them.
  void written(std::uint32_t offset, std::uint32_t bytes) {
    const std::uint32_t first = offset < kReach ? 0 : offset - kReach;
    if (code_[offset >> kPageBits] != nullptr || code_[first >> kPageBits] != nullptr ||
        code_[(offset + bytes - 1) >> kPageBits] != nullptr) {
      forget(first, offset + bytes);
    }
  }

 private:
  static constexpr std::uint32_t kReach = 6;  // a decoded 4-byte load depends on the instruction after it
  std::size_t pages() const { return (std::size_t{bytes_} >> kPageBits) + 1; }
  CodePage& add_page(std::uint32_t offset);
  void forget(std::uint32_t first, std::uint32_t last);

  std::uint32_t base_, bytes_;
  PagedMemory storage_;
  std::vector<std::unique_ptr<CodePage>> code_;
};

}  // namespace attnvp::riscv
