#include "platform/base/heap.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace attnvp::files {

namespace {

constexpr int kMiB = 1 << 20;
constexpr int kReserved = 128 * kMiB;  // of addresses, by which the heap grows; memory is taken when it is used

// Asks for huge pages from `block`, at the end of the heap, to the end of what is reserved.
void use_huge_pages(void* block) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(block) / page * page,
                       end = reinterpret_cast<std::uintptr_t>(::sbrk(0)) / page * page;
  const bool is_in_heap = begin < end && end - begin < std::size_t{2} * kReserved;
  if (is_in_heap) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace

void set_up_heap() {
  mallopt(M_MMAP_THRESHOLD, 4 * kMiB);
  mallopt(M_TRIM_THRESHOLD, 64 * kMiB);
  mallopt(M_TOP_PAD, kReserved);
  void* const block = std::malloc(kMiB);  // more than the heap has at the start, so that it grows
  if (block == nullptr) return;
  use_huge_pages(block);
  std::free(block);
}

}  // namespace attnvp::files
