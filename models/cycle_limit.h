// The most cycles that firmware may take: an end for programs that have none. One limit a process, as for the host's
// memory. It counts cycles of the platform's clock from a processor's start; where firmware runs untimed, those of the
// control processor itself.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace attnvp::cycle_limit {

inline std::uint64_t by_user = 0;          // 0: none is given
inline std::uint64_t by_job = UINT64_MAX;  // for the job at hand, where the user gives none
inline std::uint64_t cycles() { return by_user != 0 ? by_user : by_job; }
inline std::uint64_t untimed_cycles() { return by_user != 0 ? by_user : 10'000'000'000; }
inline std::string sentence() {
  return fmt::format("firmware has not ended after {} cycles; --max-cycles allows more", cycles());
}

// For a job that takes about so many at best.
class OfJob {
 public:
  static constexpr double kLeast = 2e10, kTimes = 1000, kMost = 1e18;
  explicit OfJob(double cycles) : before_(by_job) {
    by_job = static_cast<std::uint64_t>(std::min(kLeast + kTimes * cycles, kMost));
  }
  ~OfJob() { by_job = before_; }
  OfJob(const OfJob&) = delete;
  OfJob& operator=(const OfJob&) = delete;

 private:
  std::uint64_t before_;
};

}  // namespace attnvp::cycle_limit
