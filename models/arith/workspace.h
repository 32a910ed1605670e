// Scratch memory of the kernels. It only grows, so that a reused Workspace allocates nothing after its largest shape.
// One per thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace attnvp::arith {

template <typename T>
class ScratchBuffer {
 public:
  // Contents are undefined; the pointer is valid until the next call with a larger n.
  T* get(std::size_t n) {
    if (n > size_) {
      data_.reset(static_cast<T*>(::operator new(n * sizeof(T), kAlign)));
      size_ = n;
    }
    return data_.get();
  }

 private:
  static constexpr std::align_val_t kAlign{64};
  struct BufferDeleter {
    void operator()(T* p) const { ::operator delete(p, kAlign); }
  };
  std::unique_ptr<T, BufferDeleter> data_;
  std::size_t size_ = 0;
};

struct Workspace {
  ScratchBuffer<float> a;              // matmul: A in FP32
  ScratchBuffer<float> panel;          // matmul: one panel of B in FP32
  ScratchBuffer<float> row, exact;     // matmul of other types: a row of B; sums that are exact in FP32
  ScratchBuffer<std::uint32_t> terms;  // softmax: one row of exponentials
};

}  // namespace attnvp::arith
