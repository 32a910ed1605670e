#include "models/memory/storage/paged_memory.h"

#include <sys/mman.h>

#include <new>

namespace attnvp {

PagedMemory::PagedMemory(std::uint64_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<unsigned char*>(p);
}

PagedMemory::~PagedMemory() {
  if (bytes_ > 0) munmap(data_, bytes_);
}

void PagedMemory::clear() {
  if (bytes_ > 0) madvise(data_, bytes_, MADV_DONTNEED);
}

}  // namespace attnvp
