#include "models/control/riscv/memory.h"

#include <algorithm>
#include <cstring>

namespace attnvp::riscv {

bool RiscvMemory::peek(std::uint32_t address, void* data, std::uint32_t bytes) {
  if (!holds(address, bytes)) return false;
  std::memcpy(data, storage_.data() + (address - base_), bytes);
  return true;
}

bool RiscvMemory::poke(std::uint32_t address, const void* data, std::uint32_t bytes) {
  if (!holds(address, bytes)) return false;
  if (bytes == 0) return true;
  const std::uint32_t offset = address - base_;
  std::memcpy(storage_.data() + offset, data, bytes);
  forget(offset < kReach ? 0 : offset - kReach, offset + bytes);
  return true;
}

void RiscvMemory::clear() {
  storage_.clear();
  for (std::unique_ptr<CodePage>& page : code_) page.reset();
}

CodePage& RiscvMemory::add_page(std::uint32_t offset) {
  std::unique_ptr<CodePage>& page = code_[offset >> kPageBits];
  page = std::make_unique<CodePage>();
  page->base = base_ + (offset >> kPageBits << kPageBits);
  page->slot[kPageSlots].op = page->slot[kPageSlots + 1].op = Op::kPageEnd;
  return *page;
}

void RiscvMemory::forget(std::uint32_t first, std::uint32_t last) {
  for (std::uint32_t at = first & ~1U; at < last; at += 2) {
    CodePage* page = code_[at >> kPageBits].get();
    if (page == nullptr) {
      at |= (1U << kPageBits) - 2;  // the next page
      continue;
    }
    page->slot[at % (1U << kPageBits) / 2].op = Op::kUndecoded;
  }
}

}  // namespace attnvp::riscv
