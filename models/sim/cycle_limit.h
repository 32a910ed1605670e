// Limit on the cycles of firmware, which stops programs that do not terminate. Unit: cycles of the platform clock since
// the start of the processor; for untimed firmware, cycles of the control processor.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace attnvp {

class CycleLimit {
 public:
  static constexpr std::uint64_t kUntimed = 10'000'000'000;  // the default for untimed firmware

  // `most`: limit that the user set; 0: none.
  void set_by_user(std::uint64_t most) { by_user_ = most; }
  // `cycles`: least duration that is expected of the job. `most`: limit of this run; 0: none.
  void set_for_job(double cycles, std::uint64_t most = 0) {
    constexpr double kLeast = 2e10, kTimes = 1000, kMost = 1e18;
    by_job_ = static_cast<std::uint64_t>(std::min(kLeast + kTimes * cycles, kMost));
    of_run_ = most;
  }
  std::uint64_t cycles() const { return of_run_ != 0 ? of_run_ : by_user_ != 0 ? by_user_ : by_job_; }
  std::string sentence() const {
    return fmt::format("firmware has not ended after {} cycles; --max-cycles allows more", cycles());
  }

 private:
  std::uint64_t by_user_ = 0, by_job_ = UINT64_MAX, of_run_ = 0;
};

}  // namespace attnvp
