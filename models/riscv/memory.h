// Memory that a hart reaches within a cycle, tightly coupled or a bare machine's RAM, and what is known of the
// instructions in it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/riscv/decode.h"
#include "models/storage/paged_memory.h"

namespace attnvp::riscv {

// Everything else that a hart can address. The hart has come to `cycle` of its clock when an access begins; the bus
// sets it to when the access is answered.
class Bus {
 public:
  virtual bool read(std::uint32_t address, void* data, std::uint32_t bytes, std::uint64_t& cycle) = 0;
  virtual bool write(std::uint32_t address, const void* data, std::uint32_t bytes, std::uint64_t& cycle) = 0;
  // Waits until what has been written is answered; false: it was an error, at that address.
  virtual bool fence(std::uint64_t& /*cycle*/, std::uint32_t& /*address*/) { return true; }
  virtual std::uint64_t time(std::uint64_t cycle) = 0;  // mtime

 protected:
  ~Bus() = default;
};

constexpr std::uint32_t kPageBits = 12;
constexpr std::uint32_t kPageSlots = 1U << (kPageBits - 1);  // an instruction may begin at every other byte

struct CodePage {
  std::uint32_t base = 0;
  Decoded slot[kPageSlots + 2];  // one of 4 bytes may begin in the last slot: both ends are kPageEnd
};

class Memory {
 public:
  Memory(std::uint32_t base, std::uint32_t bytes) : base_(base), bytes_(bytes), storage_(bytes), code_(pages()) {}

  std::uint32_t base() const { return base_; }
  std::uint32_t bytes() const { return bytes_; }
  unsigned char* data() { return storage_.data(); }
  bool holds(std::uint32_t address, std::uint32_t bytes) const {
    const std::uint32_t offset = address - base_;
    return offset < bytes_ && bytes_ - offset >= bytes;
  }
  // By whoever but the hart: an ELF's loader, a debugger.
  bool peek(std::uint32_t address, void* data, std::uint32_t bytes);
  bool poke(std::uint32_t address, const void* data, std::uint32_t bytes);
  void clear();

  CodePage& code(std::uint32_t offset) {
    std::unique_ptr<CodePage>& page = code_[offset >> kPageBits];
    return page != nullptr ? *page : add_page(offset);
  }
  // Bytes have been written: what was known of instructions there, and of loads before them, is forgotten.
  void written(std::uint32_t offset, std::uint32_t bytes) {
    const std::uint32_t first = offset < kReach ? 0 : offset - kReach;
    if (code_[offset >> kPageBits] != nullptr || code_[first >> kPageBits] != nullptr ||
        code_[(offset + bytes - 1) >> kPageBits] != nullptr) {
      forget(first, offset + bytes);
    }
  }

 private:
  static constexpr std::uint32_t kReach = 6;  // a load of 4 bytes knows what the instruction behind it takes
  std::size_t pages() const { return (std::size_t{bytes_} >> kPageBits) + 1; }
  CodePage& add_page(std::uint32_t offset);
  void forget(std::uint32_t first, std::uint32_t last);

  std::uint32_t base_, bytes_;
  PagedMemory storage_;
  std::vector<std::unique_ptr<CodePage>> code_;
};

}  // namespace attnvp::riscv
