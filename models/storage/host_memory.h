// The host's memory that a simulation may take: counted where it is about to be used, so that a machine or a layer that
// the host cannot hold ends with a sentence, not with swapping.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace attnvp::host_memory {

struct Exceeded : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What this process may still take by the host's own account and its control groups'.
std::uint64_t available_bytes();

// By default nine tenths of what is available when the first byte is taken.
void set_limit(std::uint64_t bytes);
std::uint64_t limit();

// False: that would go beyond the limit, and nothing was taken.
bool take(std::uint64_t bytes);
void give_back(std::uint64_t bytes);

// "l1 of cluster 3 would need 4.3 GB of the host's memory, ...".
std::string refusal(const std::string& part, std::uint64_t bytes);

// A part's bytes for as long as it lives; grows, and is given back at its end.
class Share {
 public:
  explicit Share(std::string part) : part_(std::move(part)) {}
  Share(std::string part, std::uint64_t bytes) : part_(std::move(part)) { require(bytes); }
  ~Share() { give_back(bytes_); }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  // At least so many in all; false when that goes beyond the limit.
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
