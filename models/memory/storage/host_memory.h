// Budget of host memory for a simulation, in bytes. Memory is counted before it is used. A machine or layer that
// exceeds the host's memory therefore ends with an error, without swapping.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace attnvp::host_memory {

struct Exceeded : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Bytes that this process may still allocate, by the host and its control groups.
std::uint64_t available_bytes();

// Default: 90 % of available_bytes() at the first take().
void set_limit(std::uint64_t bytes);
std::uint64_t limit();

// False, with nothing taken, if the limit would be exceeded.
bool take(std::uint64_t bytes);
void give_back(std::uint64_t bytes);

// "l1 of cluster 3 would need 4.3 GB of the host's memory, ...".
std::string refusal(const std::string& part, std::uint64_t bytes);

// Bytes of one part: grows on demand and is returned by the destructor.
class MemoryShare {
 public:
  explicit MemoryShare(std::string part) : part_(std::move(part)) {}
  MemoryShare(std::string part, std::uint64_t bytes) : part_(std::move(part)) { require(bytes); }
  ~MemoryShare() { give_back(bytes_); }
  MemoryShare(const MemoryShare&) = delete;
  MemoryShare& operator=(const MemoryShare&) = delete;

  // Raises the total to at least `bytes`; false if that exceeds the limit.
  bool raise_to(std::uint64_t bytes) {
    if (bytes <= bytes_) return true;
    if (!take(bytes - bytes_)) return false;
    bytes_ = bytes;
    return true;
  }
  void require(std::uint64_t bytes) {  // throws Exceeded
    if (!raise_to(bytes)) throw Exceeded(refusal(part_, bytes));
  }

 private:
  std::string part_;
  std::uint64_t bytes_ = 0;
};

}  // namespace attnvp::host_memory
