// The bytes of a modelled memory: as large as the machine says, as much of the host's as was touched.
#pragma once

#include <cstdint>

namespace attnvp {

// Pages get memory when they are first touched, and read as zero before.
class PagedMemory {
 public:
  explicit PagedMemory(std::uint64_t bytes);  // 0: none. Throws std::bad_alloc where there is no such address space.
  ~PagedMemory();
  PagedMemory(const PagedMemory&) = delete;
  PagedMemory& operator=(const PagedMemory&) = delete;

  unsigned char* data() { return data_; }
  std::uint64_t size() const { return bytes_; }
  bool empty() const { return bytes_ == 0; }
  void clear();  // all zero, and nothing taken of the host

 private:
  std::uint64_t bytes_;
  unsigned char* data_ = nullptr;
};

}  // namespace attnvp
