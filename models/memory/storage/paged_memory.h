// Bytes of a modelled memory. Host memory is used for touched pages only.
#pragma once

#include <cstdint>

namespace attnvp {

// Untouched pages read as zero.
class PagedMemory {
 public:
  explicit PagedMemory(std::uint64_t bytes);  // throws std::bad_alloc if the host lacks the address space
  ~PagedMemory();
  PagedMemory(const PagedMemory&) = delete;
  PagedMemory& operator=(const PagedMemory&) = delete;

  unsigned char* data() { return data_; }
  std::uint64_t size() const { return bytes_; }
  bool empty() const { return bytes_ == 0; }
  void clear();  // sets all bytes to zero and returns the host memory

 private:
  std::uint64_t bytes_;
  unsigned char* data_ = nullptr;
};

}  // namespace attnvp
