// Visitor of the state of modules, for the detection of a steady state (steady_state.h).
//
// A module shows its state in four kinds of values. `value`: equal in equal states. `at`: a time, which is compared
// relative to the current one. `sum`: a total that grows with time and has no effect on time, such as a count. `since`:
// the start of a time that is added to a sum later. The order of the calls must depend on the state alone.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "models/sim/process.h"

namespace attnvp::sim {

class StateVisitor {
 public:
  // A new digest, of the state at this time. Keeps the memory of the former one.
  void begin(std::uint64_t now_cycle, std::uint64_t now_fs) {
    now_cycle_ = now_cycle;
    now_fs_ = now_fs;
    digest_ = 0;
    sums_.clear();
    lasting_.clear();
    change_ = nullptr;
  }

  void value(std::uint64_t v) {
    digest_ = (digest_ ^ v) * kFactor;
    digest_ ^= digest_ >> 32;
  }
  void value(double v) { value(std::bit_cast<std::uint64_t>(v)); }
  void value(bool v) { value(std::uint64_t{v}); }
  void value(const void* v) { value(reinterpret_cast<std::uint64_t>(v)); }
  template <class T>
  requires std::is_integral_v<T> || std::is_enum_v<T>
  void value(T v) { value(static_cast<std::uint64_t>(v)); }
  void at(std::uint64_t cycle) { value(cycle - now_cycle_); }
  void at_fs(std::uint64_t time_fs) { value(time_fs - now_fs_); }
  // Whether a process waits for it. The processes of a module wait at no other places.
  void waits(const Event& event) { value(event.has_waiter()); }
  void waits(const Completion& completion) {
    value(completion.is_done());
    value(completion.has_waiter());
  }
  void waits(const Semaphore& semaphore) {
    value(semaphore.count());
    value(semaphore.has_waiter());
  }

  void sum(std::uint64_t& total) {
    if (change_ == nullptr) return sums_.push_back(total);
    total += times_ * change_[next_++];
  }

  // Start of a time that lasts, which has no effect on time, such as that of an idle unit. It must last for the whole
  // period, or start in every period at the same point.
  void since(std::uint64_t& cycle) {
    if (change_ == nullptr) {
      lasting_.push_back(sums_.size());
      return sums_.push_back(now_cycle_ - cycle);
    }
    cycle -= times_ * change_[next_++];
  }

  std::uint64_t digest() const { return digest_; }
  const std::vector<std::uint64_t>& sums() const { return sums_; }
  const std::vector<std::size_t>& lasting() const { return lasting_; }  // sums that are lengths of time, in cycles
  // From now on each sum grows by `times` times its entry of `change`.
  void advance_sums(const std::uint64_t* change, std::uint64_t times) {
    change_ = change;
    times_ = times;
    next_ = 0;
  }

 private:
  static constexpr std::uint64_t kFactor = 0x9E37'79B9'7F4A'7C15;
  std::uint64_t now_cycle_ = 0, now_fs_ = 0;
  std::uint64_t digest_ = 0;
  std::vector<std::uint64_t> sums_;
  std::vector<std::size_t> lasting_;
  const std::uint64_t* change_ = nullptr;
  std::uint64_t times_ = 0;
  std::size_t next_ = 0;
};

}  // namespace attnvp::sim
