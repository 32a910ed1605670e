// Parallel work in child processes: a process can hold only one simulated machine at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace attnvp::explore {

// Called in the parent with the number of items done so far, an item and its line.
using ItemDone = std::function<void(std::size_t done, std::size_t item, const std::string& line)>;

// Returns the line (without its end) that `work(i)` returned for every i < `count`; empty if the process died. Free
// processes take the items in order. `jobs`: number of processes, 0: one per processor of the host.
std::vector<std::string> in_processes(std::size_t count, unsigned jobs,
                                      const std::function<std::string(std::size_t)>& work,
                                      const ItemDone& item_done = {});

}  // namespace attnvp::explore
