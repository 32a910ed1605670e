// The longest sequences (section 5.5).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "platform/job/job.h"

namespace attnvp::reproduce {

constexpr std::uint32_t kLongestLayer = 4194304;  // what the platform takes
constexpr std::uint32_t kLimitStep = 64;          // tokens to which a limit is found
constexpr std::uint32_t kLimitEmb = 64;           // of the one head
constexpr std::uint32_t kLimitRowsPerCore =
    2;  // query rows: P_1 runs beside O_0 and beside C_1, which is all a core ever holds

struct Limit {
  std::string dataflow;
  std::uint32_t cores = 0;  // per cluster
  std::uint32_t rows = 0;   // query rows of each run
  std::uint64_t tokens = 0;
  std::uint64_t cycles = 0;         // of the longest run
  std::uint64_t l1_peak_bytes = 0;  // likewise
  std::string refused;              // what firmware said to the shortest one that did not run; empty: all ran
};

// Every dataflow of the list, on the machine as it is and, where it has more than one core per cluster, with
// one. A length counts where there are tiles that the machine has room for; the longest one is run.
std::vector<Limit> find_limits(const MachineConfig& machine, const std::vector<std::string>& dataflows,
                               const std::function<void(const std::string& dataflow, std::uint32_t cores)>& progress);

}  // namespace attnvp::reproduce
