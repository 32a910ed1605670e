// Parallel work in child processes: a process can hold only one simulated machine at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace attnvp::explore {

// Returns the line (without its end) that `work(i)` returned for every i < `count`; empty if the process died. `jobs`:
// number of processes, 0: one per processor of the host. `progress` is called after each completed item.
using ProcessProgress = std::function<void(std::size_t done)>;
std::vector<std::string> in_processes(std::size_t count, unsigned jobs,
                                      const std::function<std::string(std::size_t)>& work,
                                      const ProcessProgress& progress = {});

}  // namespace attnvp::explore
