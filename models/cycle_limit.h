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
inline std::uint64_t of_run = 0;           // 0: none; what takes longer is of no use to who runs it
inline std::uint64_t cycles() { return of_run != 0 ? of_run : by_user != 0 ? by_user : by_job; }
inline std::uint64_t untimed_cycles() { return by_user != 0 ? by_user : 10'000'000'000; }
inline std::string sentence() {
  return fmt::format("firmware has not ended after {} cycles; --max-cycles allows more", cycles());
}

// For a job that takes about so many at best, and is to be stopped after `most` of them, unless that is 0.
class OfJob {
 public:
  static constexpr double kLeast = 2e10, kTimes = 1000, kMost = 1e18;
  explicit OfJob(double cycles, std::uint64_t most = 0) : before_(by_job) {
    by_job = static_cast<std::uint64_t>(std::min(kLeast + kTimes * cycles, kMost));
    of_run = most;
  }
  ~OfJob() {
    by_job = before_;
    of_run = 0;
  }
  OfJob(const OfJob&) = delete;
  OfJob& operator=(const OfJob&) = delete;

 private:
  std::uint64_t before_;
};

}  // namespace attnvp::cycle_limit
